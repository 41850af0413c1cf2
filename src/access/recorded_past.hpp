// SPDX-License-Identifier: Apache-2.0
#pragma once

// The history of a recording until a moment: its last events, and used bytes over time. It moves forward with the moments
// that are asked for, and begins again for an earlier one.

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "history/event_history.hpp"
#include "recording/replay.hpp"

namespace ttmem::access {

class RecordedPast {
public:
    explicit RecordedPast(const std::shared_ptr<const recording::Recording>& recording);

    base::Expected<void> move_to(uint64_t until_ns);
    uint64_t until_ns() const { return until_ns_; }

    const history::EventHistory& history() const { return history_; }

private:
    base::Expected<void> pass_time(uint64_t until_ns);
    base::Expected<void> add_arrivals(uint64_t now_ns);
    void add_gaps(uint64_t now_ns);

    uint64_t until_ns_ = 0;
    uint64_t now_ns_ = 0;
    uint64_t next_sample_ns_ = 0;
    uint64_t sample_step_ns_ = 0;
    recording::Replay replay_;
    history::EventHistory history_;
    std::map<uint32_t, bool> has_ended_;  // by number, of processes that have arrived
    std::map<uint32_t, size_t> gaps_;     // by number: those that the history has
    std::vector<census::Process> kept_;   // the names of events are in their ledgers
};

// Shared by the moments of a recording that are shown one after another.
class PastCursor {
public:
    explicit PastCursor(std::shared_ptr<const recording::Recording> recording)
        : recording_(std::move(recording)) {}

    // Valid until the next call.
    base::Expected<const history::EventHistory*> at(uint64_t time_ns);

private:
    std::shared_ptr<const recording::Recording> recording_;
    std::unique_ptr<RecordedPast> past_;
};

}  // namespace ttmem::access
