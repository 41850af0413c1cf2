// SPDX-License-Identifier: Apache-2.0
#pragma once

// The least headroom of the fullest L1 core during a run: from the rings, because the ledger has only the last state.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "census/census.hpp"
#include "census/worst_core.hpp"
#include "history/follower.hpp"
#include "history/log.hpp"
#include "view/model/run.hpp"

namespace ttmem::access {

// One process. Its events are applied in the order of their times, over all threads.
class ProcessHeadroom {
public:
    explicit ProcessHeadroom(std::shared_ptr<const segment::Reader> ledger);

    // Reads new events, and applies those that no other thread can precede any more. Returns the number of events.
    uint64_t follow();
    // Applies the rest, after the end.
    void finish();

    // Of one entry of the device table of the process.
    struct EntryHeadroom {
        std::optional<int64_t> least;  // absent: the size of L1 is unknown
        census::L1Reach reach;         // the outermost of all times
    };
    EntryHeadroom of(size_t entry) const;
    // Events that were lost, came too late or have no devices: the least headroom may be lower.
    uint64_t missing() const { return follower_.lost() + misplaced_; }

private:
    struct LiveEdge {
        uint32_t set = 0;
        bool is_circular = false;
        uint64_t address = 0;  // the beginning of a buffer, or the end of a circular buffer
    };
    // The buffers of one device set.
    struct SetEdges {
        uint64_t members = 0;
        std::multiset<uint64_t> buffers;
        std::multiset<uint64_t> circular;
    };

    void take(const history::Record& record);
    void apply_until(uint64_t ticks);
    void apply(const history::Record& record);
    void add(const history::Record& record);
    void remove(uint32_t slot);
    void note_least(uint64_t members);

    std::shared_ptr<const segment::Reader> ledger_;
    history::Log log_;
    history::Follower follower_;
    uint64_t taken_ = 0;  // the last record of the log that was taken
    uint64_t newest_ = 0;
    uint64_t applied_ = 0;  // ticks
    std::vector<history::Record> waiting_;
    std::map<uint32_t, LiveEdge> live_;  // by slot
    std::map<uint32_t, SetEdges> sets_;  // by number of the version
    std::map<size_t, EntryHeadroom> entries_;
    uint64_t misplaced_ = 0;
};

class RunHeadroom {
public:
    // Reads the events of the processes so far. Returns the milliseconds until the next call.
    int follow(const census::Census& census);

    // After the end: one row per device, by id.
    std::vector<view::LeastHeadroom> finish(const census::Census& census);

private:
    // By pid and start time.
    std::map<std::pair<uint32_t, uint64_t>, std::unique_ptr<ProcessHeadroom>> processes_;
};

}  // namespace ttmem::access
