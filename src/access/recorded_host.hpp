// SPDX-License-Identifier: Apache-2.0
#pragma once

// A moment of a recording as a host: every question is answered from it as from the living one.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "access/answer_source.hpp"
#include "access/recorded_past.hpp"
#include "base/error.hpp"
#include "recording/replay.hpp"
#include "view/questions/host.hpp"

namespace ttmem::access {

class RecordedHost : public NoticingHost {
public:
    // Opens a recording at a moment (recording/moment.hpp); without one at its end.
    static base::Expected<std::shared_ptr<const RecordedHost>> open(const std::string& path,
                                                                    const std::optional<std::string>& at);
    // Moves a replay to a moment.
    static base::Expected<std::shared_ptr<const RecordedHost>> show(
        const std::shared_ptr<const recording::Recording>& recording, recording::Replay& replay,
        std::shared_ptr<PastCursor> past, uint64_t time_ns);

    view::Origin origin() const override;
    census::Census census() const override { return census_; }
    // Of other users the recording may have totals only.
    bool may_see(uint32_t uid) const override;
    base::Expected<view::EventsView> events(const view::EventQuery& query) const override;
    base::Expected<view::HistoryView> history(const view::HistoryQuery& query) const override;
    base::Expected<view::ProcessHistoryView> process_history(
        const view::ProcessHistoryQuery& query) const override;
    // Failures, marks and ends until this moment.
    view::KeptPast past(uint64_t since) const override;

    // What the recording lacks.
    std::vector<std::string> notices() const override;

private:
    RecordedHost(std::shared_ptr<const recording::Recording> recording, std::shared_ptr<PastCursor> past,
                 uint64_t time_ns, census::Census census)
        : recording_(std::move(recording)),
          past_(std::move(past)),
          time_ns_(time_ns),
          census_(std::move(census)) {}

    std::shared_ptr<const recording::Recording> recording_;
    std::shared_ptr<PastCursor> past_;
    uint64_t time_ns_;
    census::Census census_;  // its ledgers outlive the replay
};

}  // namespace ttmem::access
