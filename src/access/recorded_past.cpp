// SPDX-License-Identifier: Apache-2.0
#include "access/recorded_past.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

#include "base/time.hpp"
#include "census/figures.hpp"

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

// Takes samples, and notes who arrives and ends.
base::Expected<void> RecordedPast::pass_time(uint64_t until_ns) {
    for (; next_sample_ns_ <= until_ns; next_sample_ns_ += sample_step_ns_) {
        history_.follow();
        if (auto added = add_arrivals(next_sample_ns_); !added) {
            return added;
        }
        if (auto moved = replay_.move_to(next_sample_ns_); !moved) {
            return moved;
        }
        const auto census = replay_.census();
        if (!census) {
            return tl::unexpected(census.error());
        }
        history_.add_sample(next_sample_ns_, replay_.recording().epoch_ns(next_sample_ns_),
                            census::compute_figures(*census, census::Depth::pools));
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
    return {};
}

base::Expected<const history::EventHistory*> PastCursor::at(uint64_t time_ns) {
    if (past_ == nullptr || past_->until_ns() > time_ns) {
        past_ = std::make_unique<RecordedPast>(recording_);
    }
    if (auto moved = past_->move_to(time_ns); !moved) {
        past_.reset();
        return tl::unexpected(std::move(moved.error()));
    }
    return &past_->history();
}

}  // namespace ttmem::access
