// SPDX-License-Identifier: Apache-2.0
#include "view/questions/history_views.hpp"

#include <algorithm>
#include <cassert>
#include <map>

#include "base/time.hpp"

namespace ttmem::view {

using history::FollowedProcess;
using history::Record;
using history::RecordType;

namespace {

bool has_kind(RecordType type) {
    return type == RecordType::allocation || type == RecordType::free || type == RecordType::failure;
}

bool has_set(RecordType type) {
    return has_kind(type) || type == RecordType::set_opened || type == RecordType::set_closed;
}

EventView describe_event(const Record& record, const FollowedProcess& process, const HistoryTime& time) {
    EventView event;
    event.sequence = record.sequence;
    event.time_ns = time.epoch_offset_ns + std::min(time.now_ns, record.monotonic_ns);
    event.type = record.type;
    event.pid = process.identity().pid;
    if (record.type == RecordType::gap) {
        event.count = record.count;
    }
    if (has_set(record.type)) {
        for (const census::NumberedDevice& device : process.devices_of(record)) {
            event.devices.push_back(device.id);
        }
        event.name = process.name_of(record);
    }
    if (has_kind(record.type)) {
        event.kind = census::kind_of(record.event.kind);
        if (segment::is_kernel(record.event.kind)) {
            event.kernel_type = census::kKernelTypes[census::kernel_type_of(record.event.kind)];
        } else if (record.type != RecordType::failure) {
            event.address = record.event.address;
        }
        event.requested = record.event.requested;
        event.adds_bytes = record.event.adds_bytes;
    }
    return event;
}

[[maybe_unused]] bool is_in_order(const std::vector<EventView>& events) {
    return std::adjacent_find(events.begin(), events.end(), [](const EventView& a, const EventView& b) {
               return a.sequence >= b.sequence;
           }) == events.end();
}

// What a list of events lacks: it begins late, has gaps, or leaves out other users.
std::vector<census::Inexactness> inexactness_of_list(const EventsView& view) {
    std::vector<census::Inexactness> result;
    if (view.missed != 0) {
        result.push_back({0, census::Reason::events_not_kept, view.missed});
    }
    if (view.hidden_events != 0) {
        result.push_back({0, census::Reason::events_hidden, view.hidden_events});
    }
    std::map<uint32_t, uint64_t> lost;
    for (const EventView& event : view.events) {
        if (event.type == RecordType::gap) {
            lost[event.pid] += event.count.value_or(0);
        }
    }
    for (const auto& [pid, count] : lost) {
        result.push_back({pid, census::Reason::events_lost, count});
    }
    return result;
}

// Cheaper than to describe an event first.
bool matches(const Record& record, const FollowedProcess& process, const EventQuery& query) {
    if (query.pid && process.identity().pid != *query.pid) {
        return false;
    }
    if (has_kind(record.type)) {
        const auto kind = census::kind_of(record.event.kind);
        if (kind && !query.kind.selects(*kind)) {
            return false;
        }
    }
    if (!query.device.empty() && has_set(record.type)) {
        const std::vector<census::NumberedDevice> devices = process.devices_of(record);
        return devices.empty() ||
               std::any_of(devices.begin(), devices.end(), [&](const census::NumberedDevice& device) {
                   return query.device.selects(device.id);
               });
    }
    return true;
}

}  // namespace

HistoryTime HistoryTime::here() {
    const uint64_t now_ns = segment::monotonic_now();
    return {now_ns, base::realtime_ns() - now_ns};
}

EventsView list_events(const history::EventHistory& history, const EventQuery& query,
                       const std::function<bool(uint32_t uid)>& may_see, const HistoryTime& time) {
    return history.read_events(
        [&](const history::Log& log, const history::EventHistory::FollowedProcesses& processes) {
            EventsView result;
            const uint64_t from = std::max<uint64_t>(query.since.value_or(0), 1);
            // A number that no event has yet, such as one of another daemon, continues with the next event.
            const uint64_t first = std::max(std::min(from, log.newest() + 1), log.oldest());
            result.missed = first - std::min(first, from);
            assert(first >= 1 && first <= log.newest() + 1);
            // The process of an event that matches, and whether it is for the asker.
            struct MatchingEvent {
                const FollowedProcess* process = nullptr;
                bool is_visible = false;
            };
            const auto find_match = [&](uint64_t sequence) -> MatchingEvent {
                const Record& record = *log.at(sequence);
                const auto process = processes.find(record.process);
                if (process == processes.end() || !matches(record, process->second, query)) {
                    return {};
                }
                return {&process->second, may_see(process->second.identity().uid)};
            };
            uint64_t most = query.limit == 0 ? kMostRows : std::min(query.limit, kMostRows);
            uint64_t at = first;
            if (query.last) {
                most = kMostRows;
                at = log.newest() + 1;
                for (uint64_t found = 0; at > first && found < *query.last;) {
                    found += find_match(--at).is_visible ? 1u : 0u;
                }
                if (at > first) {
                    // A stream shows all events or counts them. A list of the last events has missed none.
                    result.missed = query.stream ? result.missed + (at - first) : 0;
                }
            }
            for (; at <= log.newest() && result.events.size() < most; ++at) {
                const MatchingEvent match = find_match(at);
                if (match.is_visible) {
                    result.events.push_back(describe_event(*log.at(at), *match.process, time));
                } else if (match.process != nullptr) {
                    ++result.hidden_events;
                }
            }
            result.next = at;
            result.inexact = inexactness_of_list(result);
            assert(is_in_order(result.events) && result.events.size() <= most);
            return result;
        });
}

std::vector<SeriesView> list_series(const history::EventHistory& history, const HistoryQuery& query) {
    return history.read_samples([&](const history::Samples& samples) {
        std::vector<SeriesView> result;
        for (const auto& [device, kind] : samples.keys()) {
            if (query.device.selects(device) && query.kind.selects(kind)) {
                result.push_back({device, kind, samples.since({device, kind}, query.since)});
            }
        }
        return result;
    });
}

}  // namespace ttmem::view
