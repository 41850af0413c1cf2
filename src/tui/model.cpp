// SPDX-License-Identifier: Apache-2.0
#include "tui/model.hpp"

#include <algorithm>
#include <cassert>
#include <iterator>

namespace ttmem::tui {

namespace {

constexpr size_t kMostEvents = 2000;
constexpr size_t kMostMarks = 1000;
// Direct readings come at least every 10 s.
constexpr uint64_t kLongestSilenceNs = 15 * kSecondNs;

const census::ProcessFigures* find(const view::View& view, const census::ProcessFigures& process) {
    const auto& all = view.figures.processes;
    const auto found = std::find_if(all.begin(), all.end(), [&](const census::ProcessFigures& one) {
        return one.pid == process.pid && one.start_time_ns == process.start_time_ns;
    });
    return found == all.end() ? nullptr : &*found;
}

}  // namespace

void Model::take_status(view::View view, std::vector<std::string> notices, Link link) {
    assert(link == Link::daemon || link == Link::direct || link == Link::recording);
    if (link == Link::recording) {
        take_moment(std::move(view), std::move(notices));
        return;
    }
    now_ns_ = std::max(now_ns_, view.origin.time_ns);
    if (status_) {
        compare(*status_, view);
    }
    for (const census::ProcessFigures& process : view.figures.processes) {
        add_mark(ChartMark::Cause::start, process.start_time_ns, process.pid);
    }
    status_ = std::move(view);
    notices_ = std::move(notices);
    has_lost_daemon_ = link == Link::direct && (has_lost_daemon_ || link_ == Link::lost);
    link_ = link;
    why_lost_.clear();
}

// What a recording held. Its marks and its values over time are those of its timeline.
void Model::take_moment(view::View view, std::vector<std::string> notices) {
    status_ = std::move(view);
    notices_ = std::move(notices);
    link_ = Link::recording;
    why_lost_.clear();
    now_ns_ = status_->origin.time_ns;
}

void Model::take(access::Timeline timeline) {
    timeline_ = std::move(timeline);
    marks_.clear();
    for (const access::TimelinePoint& point : timeline_->points) {
        const uint64_t time_ns = point.time_ns + timeline_->epoch_offset_ns;
        switch (point.type) {
            case access::TimelinePoint::PointType::start:
                marks_.insert({ChartMark::Cause::start, time_ns, point.pid});
                break;
            case access::TimelinePoint::PointType::end:
                marks_.insert({ChartMark::Cause::death, time_ns, point.pid});
                break;
            case access::TimelinePoint::PointType::gap:
                marks_.insert({ChartMark::Cause::gap, time_ns, point.pid});
                break;
            case access::TimelinePoint::PointType::failure:
                marks_.insert({ChartMark::Cause::failure, time_ns, point.pid});
                break;
            case access::TimelinePoint::PointType::mark:
                break;
        }
    }
}

std::vector<std::optional<double>> Model::recorded(RecordedValue value, uint32_t device, uint64_t from_ns,
                                                   uint64_t to_ns, size_t count) const {
    std::vector<TrackPoint> known;
    for (size_t part = 0; part < timeline_->parts.size(); ++part) {
        const uint64_t time_ns = timeline_->end_of(part) + timeline_->epoch_offset_ns;
        for (const access::TimelineDevice& one : timeline_->parts[part].devices) {
            const auto used = value == RecordedValue::dram ? std::optional(one.used_dram) : one.l1_core;
            if (one.id == device && used && time_ns <= now_ns_) {
                known.push_back({time_ns, static_cast<double>(*used)});
            }
        }
    }
    auto columns = columns_of(known, from_ns, to_ns, count);
    for (size_t i = 0; i < count && to_ns > from_ns; ++i) {
        const double share = static_cast<double>(i) / static_cast<double>(count);
        if (from_ns + static_cast<uint64_t>(share * static_cast<double>(to_ns - from_ns)) > now_ns_) {
            columns[i].reset();  // of the future
        }
    }
    return columns;
}

bool Model::is_stale() const {
    if (link_ == Link::direct) {
        return now_ns_ > status_->origin.time_ns + kLongestSilenceNs;
    }
    return link_ == Link::lost;
}

uint64_t Model::lost_since_ns() const {
    return link_ == Link::direct ? status_->origin.time_ns : lost_since_ns_;
}

std::string Model::why_lost() const {
    return link_ == Link::direct ? "reading directly takes too long" : why_lost_;
}

void Model::set_disconnected(std::string why, uint64_t now_ns) {
    if (link_ != Link::lost) {
        lost_since_ns_ = now_ns;
        past_of_.clear();  // the next daemon may know more
    }
    link_ = Link::lost;
    why_lost_ = std::move(why);
}

// What happened between two states.
void Model::compare(const view::View& before, const view::View& now) {
    for (const census::ProcessFigures& process : before.figures.processes) {
        const census::ProcessFigures* still = find(now, process);
        if (still == nullptr) {
            add_mark(ChartMark::Cause::death, now.origin.time_ns, process.pid);
        } else if (still->lost.value_or(0) > process.lost.value_or(0)) {
            add_mark(ChartMark::Cause::gap, now.origin.time_ns, process.pid);
        }
    }
}

void Model::add_mark(ChartMark::Cause cause, uint64_t time_ns, uint32_t pid) {
    if (time_ns + kHourNs >= now_ns_) {
        marks_.insert({cause, time_ns, pid});
    }
    while (marks_.size() > kMostMarks) {
        const auto oldest =
            std::min_element(marks_.begin(), marks_.end(),
                             [](const ChartMark& a, const ChartMark& b) { return a.time_ns < b.time_ns; });
        marks_.erase(oldest);
    }
}

void Model::tick(uint64_t now_ns) {
    now_ns_ = now_ns;
    std::erase_if(marks_, [&](const ChartMark& mark) { return mark.time_ns + kHourNs < now_ns; });
    if (is_stale() || !status_) {
        return;
    }
    for (const census::DeviceFigures& device : status_->figures.devices) {
        DeviceTracks& tracks = tracks_[device.id];
        const census::MemoryFigures& dram = device.memory[index_of(census::Kind::dram)];
        if (dram.is_known) {
            tracks.dram.add(now_ns, static_cast<double>(dram.used));
        }
        if (device.l1_worst_core.used) {
            tracks.l1_core.add(now_ns, static_cast<double>(*device.l1_worst_core.used));
        }
        const census::Telemetry& telemetry = device.telemetry;
        if (telemetry.temperature_c) {
            tracks.temperature_c.add(now_ns, *telemetry.temperature_c);
        }
        if (telemetry.power_w) {
            tracks.power_w.add(now_ns, *telemetry.power_w);
        }
        if (telemetry.aiclk_mhz) {
            tracks.aiclk_mhz.add(now_ns, *telemetry.aiclk_mhz);
        }
    }
}

uint64_t Model::lost_events() const {
    uint64_t lost = 0;
    if (status_) {
        for (const census::ProcessFigures& process : status_->figures.processes) {
            lost += process.lost.value_or(0);
        }
    }
    return lost;
}

void Model::take(ScreenAnswer answer) {
    if (const auto* past = std::get_if<DevicePastView>(&answer.view)) {
        take_past(*past, std::get<DevicePastQuery>(answer.query).device);
    }
    const auto* why = std::get_if<view::WhyView>(&answer.view);
    if (why != nullptr && !is_recording()) {
        take_failures(why->failures);
    }
    if (const auto* list = std::get_if<view::PostMortemListView>(&answer.view)) {
        note_history(list->inexact);
    }
    if (auto* events = std::get_if<view::EventsView>(&answer.view)) {
        take_events(*events);
    }
    answer_ = std::move(answer);
}

void Model::take_events(view::EventsView& events) {
    const bool begins_anew = !events.events.empty() && !events_.empty() &&
                             events.events.front().sequence <= events_.back().sequence;
    if (begins_anew || is_recording()) {
        events_.clear();
    }
    events_missed_ += events.missed;
    events_hidden_ += events.hidden_events;
    events_.insert(events_.end(), std::make_move_iterator(events.events.begin()),
                   std::make_move_iterator(events.events.end()));
    while (events_.size() > kMostEvents) {
        events_.pop_front();
    }
}

void Model::take_failures(const view::FailureView& view) {
    for (const census::FailureFigures& failure : view.failures) {
        add_mark(ChartMark::Cause::failure, failure.time_ns, failure.pid);
    }
}

bool Model::knows_past_of(uint32_t device) const {
    constexpr uint64_t kLongestNs = 60 * kSecondNs;
    const auto asked = past_of_.find(device);
    return asked != past_of_.end() && now_ns_ - std::min(now_ns_, asked->second) < kLongestNs;
}

void Model::note_history(const std::vector<census::Inexactness>& reasons) {
    const auto found = std::find_if(reasons.begin(), reasons.end(), [](const auto& each) {
        return each.reason == census::Reason::history_not_kept;
    });
    unkept_history_ = found != reasons.end() ? std::optional(*found) : std::nullopt;
}

void Model::take_past(const DevicePastView& past, uint32_t device) {
    for (const view::SeriesView& series : past.history.series) {
        std::vector<TrackPoint> samples;
        for (const history::Sample& sample : series.samples) {
            samples.push_back({sample.time_ns, static_cast<double>(sample.value)});
        }
        if (series.kind == census::Kind::dram) {
            tracks_[series.device].dram.put_before(samples);
            past_of_[series.device] = now_ns_;
        }
    }
    past_of_[device] = now_ns_;  // also where nothing is known of it
    note_history(past.history.inexact);
    take_failures(past.why.failures);
    for (const census::PostMortemSummary& one : past.post_mortems.post_mortems) {
        add_mark(ChartMark::Cause::start, one.process.start_time_ns, one.process.pid);
        add_mark(ChartMark::Cause::death, one.died_ns, one.process.pid);
    }
}

}  // namespace ttmem::tui
