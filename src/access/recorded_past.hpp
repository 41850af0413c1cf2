// SPDX-License-Identifier: Apache-2.0
#pragma once

// The history of a recording until a moment: its last events, and used bytes second by second.

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "base/error.hpp"
#include "history/event_history.hpp"
#include "recording/replay.hpp"

namespace ttmem::access {

class RecordedPast {
public:
    static base::Expected<std::unique_ptr<const RecordedPast>> read(
        const std::shared_ptr<const recording::Recording>& recording, uint64_t until_ns);

    const history::EventHistory& history() const { return history_; }

private:
    RecordedPast(const std::shared_ptr<const recording::Recording>& recording, uint64_t until_ns);

    base::Expected<void> replay();
    base::Expected<void> pass_time(uint64_t until_ns);
    base::Expected<void> add_arrivals(uint64_t now_ns);
    void add_gaps(uint64_t now_ns);

    const uint64_t until_ns_;
    uint64_t now_ns_ = 0;
    uint64_t next_sample_ns_ = 0;
    recording::Replay replay_;
    history::EventHistory history_;
    std::map<uint32_t, bool> has_ended_;  // by number, of processes that have arrived
    std::map<uint32_t, size_t> gaps_;     // by number: those that the history has
    std::vector<census::Process> kept_;   // the names of events are in their ledgers
};

}  // namespace ttmem::access
