// SPDX-License-Identifier: Apache-2.0
#pragma once

// The history of all processes on a host: their last events, totals that never decrease, used bytes over time, and
// audits. Live state is read from the ledgers, not from the history.
//
// One thread writes; any thread may read. A reader waits for the scan of one process at most.

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "census/device_ids.hpp"
#include "census/figures.hpp"
#include "history/followed_process.hpp"
#include "history/log.hpp"
#include "history/name_samples.hpp"
#include "history/samples.hpp"
#include "segment/clock.hpp"

namespace ttmem::history {

// By census::FailureType.
using FailureTotals = std::array<uint64_t, segment::kFailureTypes>;

// Over all processes, ended ones included.
struct EventTotals {
    uint64_t followed = 0;
    uint64_t lost = 0;
    uint64_t per_second = 0;
    uint64_t defects = 0;
    uint64_t audits = 0;
    uint64_t lag_ns = 0;  // age of the oldest event of the last scan that found any
};

class EventHistory {
public:
    using FollowedProcesses = std::map<uint32_t, FollowedProcess>;  // by number

    using Now = std::function<uint64_t()>;  // monotonic nanoseconds

    // A history of a recording has the clock of the moment that is replayed.
    explicit EventHistory(std::shared_ptr<census::DeviceIds> device_ids, Now now = segment::monotonic_now);

    // --- the writing thread ---

    // Follows a process. A process with several sources is followed by its best source; false if that is another one.
    bool add(uint32_t number, const census::Process& process, Follower::StartPosition from);

    // Reads the last events of a process and records its end. False if it is not followed.
    bool end(uint32_t number);

    // Reads new events of all processes.
    void follow();

    // Reads new events of the processes whose turn it is: of busy ones often, of idle ones rarely. Returns the time of the next
    // turn, on the monotonic clock.
    uint64_t follow_due(uint64_t now_ns);

    // Adds a record of events that nobody could read. For a recording: rings that are followed have their own.
    void add_gap(uint32_t number, uint64_t monotonic_ns, uint64_t events);

    // Adds a sample of used bytes, and updates the event rates.
    void add_sample(uint64_t monotonic_ns, uint64_t epoch_ns, const census::Figures& figures);

    struct Defect {
        uint32_t pid = 0;
        Difference difference;
    };
    // Audits one process, each in turn. Returns a defect that has just been confirmed.
    std::optional<Defect> audit_next();

    // Forgets ended processes whose records have all left the log.
    void forget_ended();

    // It has a lock of its own.
    NameSamples& name_samples() { return name_samples_; }

    bool is_empty() const { return processes_.empty(); }
    const Log& log() const { return log_; }
    const FollowedProcess* find(uint32_t number) const;

    // --- any thread ---

    // Adds event counts, defects and peaks to figures.
    void annotate(census::Figures& figures);
    uint64_t newest_event() const;
    EventTotals totals() const;
    // They never decrease, even if a process ends or overwrites its own.
    FailureTotals failures() const;

    // Calls `read` with the records and their processes, which do not change meanwhile.
    template <class Read>
    auto read_events(Read&& read) const {
        const std::lock_guard lock(mutex_);
        return read(log_, processes_);
    }

    template <class Read>
    auto read_samples(Read&& read) const {
        const std::lock_guard lock(mutex_);
        return read(samples_);
    }

private:
    struct ProcessCounters {
        uint32_t pid = 0;
        uint64_t followed = 0;
        uint64_t lost = 0;
        uint64_t defects = 0;
        FailureTotals failures{};
        uint64_t at_last_sample = 0;  // the sum of followed and lost
        uint64_t per_second = 0;
    };

    uint64_t follow(uint32_t number, FollowedProcess& process);
    void stop(uint32_t number, FollowedProcess& process);
    void publish_counters(uint32_t number, const FollowedProcess& process);

    const std::shared_ptr<census::DeviceIds> device_ids_;
    const Now now_;

    // Held for the scan of one process at a time. The writing thread reads these members without it.
    mutable std::mutex mutex_;
    Log log_;
    FollowedProcesses processes_;
    Samples samples_;
    NameSamples name_samples_;

    // Held briefly. May be taken while mutex_ is held; never take mutex_ while it is held.
    mutable std::mutex counters_mutex_;
    std::map<uint32_t, ProcessCounters> counters_;
    ProcessCounters past_counters_;  // of processes that are no longer followed
    SeenPeaks peaks_;
    uint64_t newest_ = 0;
    uint64_t lag_ns_ = 0;
    uint64_t audits_ = 0;

    // Used by the writing thread only.
    uint64_t sampled_ns_ = 0;
    uint32_t last_audited_ = 0;
};

}  // namespace ttmem::history
