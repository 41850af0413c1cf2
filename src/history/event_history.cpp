// SPDX-License-Identifier: Apache-2.0
#include "history/event_history.hpp"

#include <algorithm>
#include <cassert>

#include "census/arithmetic.hpp"

namespace ttmem::history {

namespace {

constexpr size_t kLogRecords = 65'536;
constexpr uint64_t kMaxEventsPerScan = 262'144;  // per process, so that others are not delayed

void add_to(FailureTotals& sum, const FailureTotals& part) {
    for (size_t type = 0; type < sum.size(); ++type) {
        sum[type] = census::saturating_add(sum[type], part[type]);
    }
}

uint64_t age_of(const Record& record, uint64_t now_ns) {
    return now_ns - std::min(now_ns, record.monotonic_ns);
}

}  // namespace

EventHistory::EventHistory(std::shared_ptr<census::DeviceIds> device_ids, Now now)
    : device_ids_(std::move(device_ids)), now_(std::move(now)), log_(kLogRecords) {
    assert(device_ids_);
}

bool EventHistory::add(uint32_t number, const census::Process& process, Follower::StartPosition from) {
    assert(process.ledger && find(number) == nullptr);
    const std::lock_guard lock(mutex_);
    for (auto& [other_number, other] : processes_) {
        if (!other.is_followed() || !other.identity().is_same_process(process.identity)) {
            continue;
        }
        if (other.source() < process.source) {
            return false;
        }
        if (other.source() > process.source) {
            stop(other_number, other);
        }
    }
    const auto added = processes_.emplace(number, FollowedProcess(number, process, from)).first;
    added->second.add_record(log_, RecordType::process_started, now_());
    return true;
}

void EventHistory::add_gap(uint32_t number, uint64_t monotonic_ns, uint64_t events) {
    const std::lock_guard lock(mutex_);
    Record& gap = log_.add();
    gap.process = number;
    gap.type = RecordType::gap;
    gap.monotonic_ns = monotonic_ns;
    gap.count = events;
}

bool EventHistory::end(uint32_t number) {
    const auto found = processes_.find(number);
    if (found == processes_.end() || !found->second.is_followed()) {
        return false;
    }
    while (follow(number, found->second) == kMaxEventsPerScan) {
        // The process has ended and adds no more events, so this loop ends.
    }
    const std::lock_guard lock(mutex_);
    found->second.add_record(log_, RecordType::process_died, now_());
    stop(number, found->second);
    return true;
}

void EventHistory::stop(uint32_t number, FollowedProcess& process) {
    process.stop();
    const std::lock_guard lock(counters_mutex_);
    const ProcessCounters& last = counters_[number];
    past_counters_.followed += last.followed;
    past_counters_.lost += last.lost;
    past_counters_.defects += last.defects;
    add_to(past_counters_.failures, last.failures);
    counters_.erase(number);
}

void EventHistory::follow() {
    for (auto& [number, process] : processes_) {
        if (process.is_followed()) {
            follow(number, process);
        }
    }
}

uint64_t EventHistory::follow_due(uint64_t now_ns) {
    uint64_t next_ns = UINT64_MAX;
    for (auto& [number, process] : processes_) {
        if (!process.is_followed()) {
            continue;
        }
        if (process.next_scan_ns() <= now_ns) {
            process.plan_next_scan(now_ns, follow(number, process));
        }
        next_ns = std::min(next_ns, process.next_scan_ns());
    }
    return next_ns;
}

uint64_t EventHistory::follow(uint32_t number, FollowedProcess& process) {
    uint64_t events = 0;
    {
        const std::lock_guard lock(mutex_);
        const uint64_t before = log_.newest();
        events = process.follow(log_, *device_ids_, kMaxEventsPerScan);
        if (log_.newest() != before) {
            const Record* first = log_.at(std::max(before + 1, log_.oldest()));
            assert(first != nullptr);
            const std::lock_guard counters_lock(counters_mutex_);
            lag_ns_ = age_of(*first, now_());
        }
    }
    publish_counters(number, process);
    return events;
}

void EventHistory::publish_counters(uint32_t number, const FollowedProcess& process) {
    assert(process.is_followed());
    const std::lock_guard lock(counters_mutex_);
    newest_ = log_.newest();
    ProcessCounters& counters = counters_[number];
    counters.pid = process.identity().pid;
    counters.followed = process.events_followed();
    counters.lost = process.events_lost();
    counters.defects = process.has_defect() ? 1 : 0;
    for (size_t type = 0; type < counters.failures.size(); ++type) {
        // A process may write any value, but totals must not decrease: that would look like a restart.
        const uint64_t count = process.ledger()->failure_count(static_cast<segment::FailureType>(type));
        counters.failures[type] = std::max(counters.failures[type], count);
    }
}

void EventHistory::add_sample(uint64_t monotonic_ns, uint64_t epoch_ns, const census::Figures& figures) {
    assert(monotonic_ns >= sampled_ns_);
    {
        const std::lock_guard lock(mutex_);
        samples_.add(epoch_ns, figures);
    }
    const std::lock_guard lock(counters_mutex_);
    peaks_.add(figures);
    const auto elapsed_ns = static_cast<double>(std::max<uint64_t>(monotonic_ns - sampled_ns_, 1));
    for (auto& [number, counters] : counters_) {
        const uint64_t events = counters.followed + counters.lost;
        const auto new_events = static_cast<double>(events - counters.at_last_sample);
        counters.per_second = static_cast<uint64_t>(new_events * 1e9 / elapsed_ns);
        counters.at_last_sample = events;
    }
    sampled_ns_ = monotonic_ns;
}

std::optional<EventHistory::Defect> EventHistory::audit_next() {
    std::optional<Defect> defect;
    auto next = processes_.upper_bound(last_audited_);
    for (size_t tried = 0; tried < processes_.size(); ++tried, ++next) {
        next = next == processes_.end() ? processes_.begin() : next;
        auto& [number, process] = *next;
        if (process.is_followed()) {
            last_audited_ = number;
            if (const auto difference = process.audit()) {
                defect = Defect{process.identity().pid, *difference};
            }
            publish_counters(number, process);
            break;
        }
    }
    const std::lock_guard lock(counters_mutex_);
    ++audits_;
    return defect;
}

void EventHistory::forget_ended() {
    const std::lock_guard lock(mutex_);
    std::erase_if(processes_, [&](const auto& entry) {
        return !entry.second.is_followed() && entry.second.last_sequence() < log_.oldest();
    });
}

const FollowedProcess* EventHistory::find(uint32_t number) const {
    const auto found = processes_.find(number);
    return found == processes_.end() ? nullptr : &found->second;
}

void EventHistory::annotate(census::Figures& figures) {
    const std::lock_guard lock(counters_mutex_);
    for (const auto& entry : counters_) {
        const ProcessCounters& counters = entry.second;
        const auto process = std::find_if(figures.processes.begin(), figures.processes.end(),
                                          [&](const auto& one) { return one.pid == counters.pid; });
        if (process == figures.processes.end()) {
            continue;
        }
        process->followed = process->followed.value_or(0) + counters.followed;
        process->lost = process->lost.value_or(0) + counters.lost;
        process->events_per_second = process->events_per_second.value_or(0) + counters.per_second;
        if (counters.defects != 0) {
            figures.inexact.push_back({counters.pid, census::Reason::counters_differ, counters.defects});
        }
    }
    peaks_.add(figures);
    peaks_.raise(figures);
}

uint64_t EventHistory::newest_event() const {
    const std::lock_guard lock(counters_mutex_);
    return newest_;
}

EventTotals EventHistory::totals() const {
    const std::lock_guard lock(counters_mutex_);
    EventTotals totals{
        past_counters_.followed, past_counters_.lost, 0, past_counters_.defects, audits_, lag_ns_};
    for (const auto& [number, counters] : counters_) {
        totals.followed += counters.followed;
        totals.lost += counters.lost;
        totals.defects += counters.defects;
        totals.per_second += counters.per_second;
    }
    return totals;
}

FailureTotals EventHistory::failures() const {
    const std::lock_guard lock(counters_mutex_);
    FailureTotals sum = past_counters_.failures;
    for (const auto& entry : counters_) {
        add_to(sum, entry.second.failures);
    }
    return sum;
}

}  // namespace ttmem::history
