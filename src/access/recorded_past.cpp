// SPDX-License-Identifier: Apache-2.0
#include "access/recorded_past.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

#include "base/time.hpp"
#include "census/arithmetic.hpp"
#include "census/figures.hpp"
#include "recording/failures.hpp"
#include "recording/marks.hpp"

namespace ttmem::access {

namespace {

// The rings of a replay are read before they are full.
constexpr uint32_t kRingRecords = 16'384;
constexpr uint64_t kEventsPerScan = kRingRecords / 2;
// In a whole recording: a short one has them more often than once per second.
constexpr uint64_t kLeastSamples = 250;

}  // namespace

RecordedPast::RecordedPast(const std::shared_ptr<const recording::Recording>& recording)
    : now_ns_(recording->first_ns()),
      next_sample_ns_(recording->first_ns()),
      sample_step_ns_(std::clamp<uint64_t>((recording->last_ns() - recording->first_ns()) / kLeastSamples, 1,
                                           base::kNsPerSecond)),
      replay_(recording, kRingRecords),
      history_(replay_.device_ids(), [this] { return now_ns_; }) {}

base::Expected<void> RecordedPast::add_arrivals(uint64_t now_ns) {
    now_ns_ = now_ns;
    for (const recording::ProcessReplay& replay : replay_.processes()) {
        const recording::RecordedProcess& process = replay.process();
        const auto known = has_ended_.find(process.number);
        if (known == has_ended_.end() && process.first_ns <= now_ns && replay.image() != nullptr) {
            auto reader = replay.image()->reader(replay_.recording().last_ns());
            if (!reader) {
                return tl::unexpected(std::move(reader.error()));
            }
            kept_.emplace_back(process.facts.identity, census::ProcessState::live, std::move(*reader));
            history_.add(process.number, kept_.back(), history::Follower::StartPosition::present);
            has_ended_[process.number] = false;
        } else if (known != has_ended_.end() && !known->second && process.ended_ns &&
                   *process.ended_ns <= now_ns) {
            history_.end(process.number);
            known->second = true;
        }
    }
    return {};
}

void RecordedPast::add_gaps(uint64_t now_ns) {
    for (const recording::ProcessReplay& replay : replay_.processes()) {
        const uint32_t number = replay.process().number;
        size_t& known = gaps_[number];
        while (has_ended_.contains(number) && known < replay.gaps().size() &&
               replay.gaps()[known].time_ns <= now_ns) {
            history_.follow();  // the events before it
            history_.add_gap(number, replay.gaps()[known].time_ns, replay.gaps()[known].events);
            ++known;
        }
    }
}

// Of the kinds that a process has used until then.
void RecordedPast::add_process_samples(uint64_t epoch_ns, const census::Figures& figures) {
    for (const census::ProcessFigures& process : figures.processes) {
        for (size_t index = 0; index < census::kDeviceKinds; ++index) {
            const auto kind = static_cast<census::Kind>(index);
            uint64_t used = 0;
            for (const census::DeviceHoldings& held : process.devices) {
                used = census::saturating_add(used, held.memory[index].used);
            }
            const ProcessSeriesKey key{process.pid, process.start_time_ns, kind};
            auto known = process_samples_.find(key);
            if (known == process_samples_.end() && used != 0) {
                const view::ProcessSeriesView head{process.start_time_ns, process.comm, process.uid,
                                                   process.user,          kind,         {}};
                known = process_samples_.emplace(key, ProcessSamples{head, {}}).first;
            }
            if (known != process_samples_.end()) {
                known->second.series.add({epoch_ns, used});
            }
        }
    }
}

std::vector<view::ProcessSeriesView> RecordedPast::series_of(uint32_t pid, census::KindSet kinds,
                                                             uint64_t since) const {
    std::vector<view::ProcessSeriesView> result;
    for (const auto& [key, samples] : process_samples_) {
        if (std::get<0>(key) != pid || !kinds.selects(samples.head.kind)) {
            continue;
        }
        view::ProcessSeriesView series = samples.head;
        series.samples = samples.series.since(since);
        if (!series.samples.empty()) {
            result.push_back(std::move(series));
        }
    }
    std::stable_sort(result.begin(), result.end(),
                     [](const auto& a, const auto& b) { return a.start_time_ns > b.start_time_ns; });
    return result;
}

base::Expected<void> RecordedPast::take_sample(uint64_t now_ns) {
    history_.follow();
    if (auto added = add_arrivals(now_ns); !added) {
        return added;
    }
    if (auto moved = replay_.move_to(now_ns); !moved) {
        return moved;
    }
    const auto census = replay_.census();
    if (!census) {
        return tl::unexpected(census.error());
    }
    const uint64_t epoch_ns = replay_.recording().epoch_ns(now_ns);
    const census::Figures figures = census::compute_figures(*census, census::Depth::pools);
    history_.add_sample(now_ns, epoch_ns, figures);
    add_process_samples(epoch_ns, figures);
    last_sample_ns_ = now_ns;
    return {};
}

// Takes samples, and notes which processes arrive and end.
base::Expected<void> RecordedPast::pass_time(uint64_t until_ns) {
    for (; next_sample_ns_ <= until_ns; next_sample_ns_ += sample_step_ns_) {
        if (auto taken = take_sample(next_sample_ns_); !taken) {
            return taken;
        }
    }
    return add_arrivals(until_ns);
}

base::Expected<void> RecordedPast::move_to(uint64_t until_ns) {
    assert(until_ns >= until_ns_);
    until_ns_ = until_ns;
    uint64_t events = 0;
    while (true) {
        const auto next_ns = replay_.next_ns();
        const uint64_t reached_ns = std::min(next_ns.value_or(UINT64_MAX), until_ns_);
        if (auto passed = pass_time(reached_ns); !passed) {
            return passed;
        }
        add_gaps(reached_ns);
        if (!next_ns || *next_ns > until_ns_) {
            break;
        }
        replay_.step();
        if (++events % kEventsPerScan == 0) {
            history_.follow();
        }
    }
    history_.follow();
    // The last sample is that of the moment.
    return until_ns_ > last_sample_ns_ ? take_sample(until_ns_) : base::Expected<void>();
}

base::Expected<const RecordedPast*> PastCursor::at(uint64_t time_ns) {
    if (past_ == nullptr || past_->until_ns() > time_ns) {
        past_ = std::make_unique<RecordedPast>(recording_);
    }
    if (auto moved = past_->move_to(time_ns); !moved) {
        past_.reset();
        return tl::unexpected(std::move(moved.error()));
    }
    return past_.get();
}

void PastCursor::find_moments() {
    if (std::exchange(has_moments_, true)) {
        return;
    }
    const auto moment_of = [&](uint64_t time_ns, view::PastMomentType type, const census::Identity& process) {
        view::PastMoment moment;
        moment.time_ns = recording_->epoch_ns(time_ns);
        moment.type = type;
        moment.pid = process.pid;
        moment.comm = process.comm;
        moment.uid = process.uid;
        moment.user = process.user;
        return moment;
    };
    std::map<uint32_t, const census::Identity*> identities;  // by number
    for (const recording::RecordedProcess& process : recording_->processes()) {
        const census::Identity& identity = process.facts.identity;
        identities.emplace(process.number, &identity);
        if (process.ended_ns && process.facts.has_only_totals) {
            hidden_moments_.push_back(recording_->epoch_ns(*process.ended_ns));
        } else if (process.ended_ns) {
            // How it ended is not recorded.
            moments_.push_back(moment_of(*process.ended_ns, view::PastMomentType::death, identity));
            moments_.back().ending = census::Ending::not_known;
        }
    }
    for (const recording::RecordedMark& mark : recording::find_marks(*recording_)) {
        moments_.push_back(moment_of(mark.time_ns, view::PastMomentType::mark, *identities.at(mark.process)));
        moments_.back().name = mark.name;
    }
    for (const recording::RecordedFailure& failure : recording::find_failures(*recording_)) {
        view::PastMoment moment =
            moment_of(failure.time_ns, view::PastMomentType::failure, *identities.at(failure.process));
        moment.name = failure.name;
        moment.failure = failure.type;
        if (failure.type != segment::FailureType::unknown_free) {
            moment.kind = census::kind_of(failure.kind);
            moment.requested = failure.requested;
        }
        if (failure.card != 0) {
            moment.card = failure.card;
        }
        moments_.push_back(std::move(moment));
    }
    std::stable_sort(moments_.begin(), moments_.end(),
                     [](const auto& a, const auto& b) { return a.time_ns < b.time_ns; });
}

const std::vector<view::PastMoment>& PastCursor::moments() {
    find_moments();
    return moments_;
}

const std::vector<uint64_t>& PastCursor::hidden_moments() {
    find_moments();
    return hidden_moments_;
}

}  // namespace ttmem::access
