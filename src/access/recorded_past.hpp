// SPDX-License-Identifier: Apache-2.0
#pragma once

// The history of a recording until a moment: its last events, used bytes over time, and what happened to its processes. It moves
// forward with the moments that are asked for, and begins again for an earlier one.

#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "history/event_history.hpp"
#include "history/series.hpp"
#include "recording/replay.hpp"
#include "view/model/past.hpp"
#include "view/questions/process_history.hpp"

namespace ttmem::access {

class RecordedPast {
public:
    explicit RecordedPast(const std::shared_ptr<const recording::Recording>& recording);

    base::Expected<void> move_to(uint64_t until_ns);
    uint64_t until_ns() const { return until_ns_; }

    const history::EventHistory& history() const { return history_; }
    // Of all processes that had this pid, the last first; samples from a time since the epoch on.
    std::vector<view::ProcessSeriesView> series_of(uint32_t pid, census::KindSet kinds, uint64_t since) const;

private:
    struct ProcessSamples {
        view::ProcessSeriesView head;  // without samples
        history::Series series;
    };
    using ProcessSeriesKey = std::tuple<uint32_t, uint64_t, census::Kind>;  // pid and start time

    void add_process_samples(uint64_t epoch_ns, const census::Figures& figures);
    base::Expected<void> take_sample(uint64_t now_ns);
    base::Expected<void> pass_time(uint64_t until_ns);
    base::Expected<void> add_arrivals(uint64_t now_ns);
    void add_gaps(uint64_t now_ns);

    uint64_t until_ns_ = 0;
    uint64_t now_ns_ = 0;
    uint64_t next_sample_ns_ = 0;
    uint64_t last_sample_ns_ = 0;
    uint64_t sample_step_ns_ = 0;
    recording::Replay replay_;
    history::EventHistory history_;
    std::map<ProcessSeriesKey, ProcessSamples> process_samples_;
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
    base::Expected<const RecordedPast*> at(uint64_t time_ns);

    // Failures, marks and ends of all processes whose details the recording has, the oldest first.
    const std::vector<view::PastMoment>& moments();
    // Times since the epoch: ends of the others.
    const std::vector<uint64_t>& hidden_moments();

private:
    void find_moments();

    std::shared_ptr<const recording::Recording> recording_;
    std::unique_ptr<RecordedPast> past_;
    bool has_moments_ = false;
    std::vector<view::PastMoment> moments_;
    std::vector<uint64_t> hidden_moments_;
};

}  // namespace ttmem::access
