// SPDX-License-Identifier: Apache-2.0
#include "access/recorded_host.hpp"

#include <algorithm>
#include <utility>

#include "recording/moment.hpp"
#include "view/questions/history_views.hpp"
#include "view/questions/process_history.hpp"

namespace ttmem::access {

base::Expected<std::shared_ptr<const RecordedHost>> RecordedHost::open(const std::string& path,
                                                                       const std::optional<std::string>& at) {
    auto opened = recording::open_moment(path, at);
    if (!opened) {
        return tl::unexpected(std::move(opened.error()));
    }
    const auto& recording = opened->recording;
    recording::Replay replay(recording);
    return show(recording, replay, std::make_shared<PastCursor>(recording),
                opened->time_ns.value_or(recording->last_ns()));
}

base::Expected<std::shared_ptr<const RecordedHost>> RecordedHost::show(
    const std::shared_ptr<const recording::Recording>& recording, recording::Replay& replay,
    std::shared_ptr<PastCursor> past, uint64_t time_ns) {
    if (auto moved = replay.move_to(time_ns); !moved) {
        return tl::unexpected(std::move(moved.error()));
    }
    auto census = replay.census();
    if (!census) {
        return tl::unexpected(std::move(census.error()));
    }
    return std::shared_ptr<const RecordedHost>(
        new RecordedHost(recording, std::move(past), time_ns, std::move(*census)));
}

view::Origin RecordedHost::origin() const {
    return {recording_->host().host, recording_->epoch_ns(time_ns_), view::OriginSource::recording};
}

bool RecordedHost::may_see(uint32_t uid) const {
    const auto& processes = recording_->processes();
    return std::none_of(processes.begin(), processes.end(), [uid](const recording::RecordedProcess& process) {
        return process.facts.has_only_totals && process.facts.identity.uid == uid;
    });
}

base::Expected<view::EventsView> RecordedHost::events(const view::EventQuery& query) const {
    const auto past = past_->at(time_ns_);
    if (!past) {
        return tl::unexpected(past.error());
    }
    const view::HistoryTime time{time_ns_, recording_->epoch_ns(0)};
    view::EventsView view = view::list_events((*past)->history(), query, [](uint32_t) { return true; }, time);
    view.origin = origin();
    if (recording_->lost() != 0) {
        view.inexact.push_back({0, census::Reason::events_lost, recording_->lost()});
    }
    return view;
}

base::Expected<view::HistoryView> RecordedHost::history(const view::HistoryQuery& query) const {
    const auto past = past_->at(time_ns_);
    if (!past) {
        return tl::unexpected(past.error());
    }
    return view::HistoryView{origin(), view::list_series((*past)->history(), query)};
}

base::Expected<view::ProcessHistoryView> RecordedHost::process_history(
    const view::ProcessHistoryQuery& query) const {
    const auto past = past_->at(time_ns_);
    if (!past) {
        return tl::unexpected(past.error());
    }
    view::ProcessHistoryView view;
    view.origin = origin();
    view.pid = query.pid;
    view.series = (*past)->series_of(query.pid, query.kind, query.since);
    return view;
}

view::KeptPast RecordedHost::past(uint64_t since) const {
    view::KeptPast past;
    const uint64_t until = recording_->epoch_ns(time_ns_);
    if (since > until) {
        return past;
    }
    for (const view::PastMoment& moment : past_->moments()) {
        if (moment.time_ns >= since && moment.time_ns <= until) {
            past.moments.push_back(moment);
        }
    }
    past.moments_left_out = past.moments.size() - std::min(past.moments.size(), view::kMostPastMoments);
    past.moments.erase(past.moments.begin(),
                       past.moments.begin() + static_cast<ptrdiff_t>(past.moments_left_out));
    for (const uint64_t hidden_ns : past_->hidden_moments()) {
        past.hidden_moments += hidden_ns >= since && hidden_ns <= until ? 1u : 0u;
    }
    return past;
}

std::vector<std::string> RecordedHost::notices() const {
    std::vector<std::string> notices;
    for (const std::string& problem : recording_->problems()) {
        notices.push_back(recording_->path() + ": " + problem);
    }
    return notices;
}

}  // namespace ttmem::access
