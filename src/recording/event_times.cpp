// SPDX-License-Identifier: Apache-2.0
#include "recording/event_times.hpp"

#include <algorithm>
#include <functional>

#include "recording/columns.hpp"
#include "recording/tables.hpp"

namespace ttmem::recording {

namespace {

// Calls `visit` with the times of the events of a block, in their order, until it returns false.
void visit_times(const BlockPlace& place, const std::function<bool(uint64_t)>& visit) {
    const auto payload = place.read();
    if (!payload) {
        return;  // damaged: its events are lost
    }
    ByteReader from(*payload);
    read_tables(from);
    ColumnReader columns(from, place.header().first_ns);
    for (RecordedEvent event; columns.next(event);) {
        if (!visit(event.time_ns)) {
            return;
        }
    }
}

std::optional<uint64_t> first_after(const RecordedProcess& process, uint64_t time_ns) {
    std::optional<uint64_t> first;
    for (const BlockPlace& place : process.blocks) {
        if (place.type() != BlockType::events || place.header().last_ns <= time_ns) {
            continue;
        }
        visit_times(place, [&](uint64_t event_ns) {
            first = event_ns > time_ns ? std::optional(event_ns) : std::nullopt;
            return !first;
        });
        if (first) {
            break;
        }
    }
    return first;
}

std::optional<uint64_t> last_before(const RecordedProcess& process, uint64_t time_ns) {
    std::optional<uint64_t> last;
    for (auto place = process.blocks.rbegin(); place != process.blocks.rend() && !last; ++place) {
        if (place->type() != BlockType::events || place->header().first_ns >= time_ns) {
            continue;
        }
        visit_times(*place, [&](uint64_t event_ns) {
            last = event_ns < time_ns ? std::optional(event_ns) : last;
            return event_ns < time_ns;
        });
    }
    return last;
}

}  // namespace

std::optional<uint64_t> next_event_ns(const Recording& recording, uint64_t time_ns) {
    std::optional<uint64_t> next;
    for (const RecordedProcess& process : recording.processes()) {
        const auto first = first_after(process, time_ns);
        next = first && (!next || *first < *next) ? first : next;
    }
    return next;
}

std::optional<uint64_t> previous_event_ns(const Recording& recording, uint64_t time_ns) {
    std::optional<uint64_t> previous;
    for (const RecordedProcess& process : recording.processes()) {
        const auto last = last_before(process, time_ns);
        previous = last && (!previous || *last > *previous) ? last : previous;
    }
    return previous;
}

}  // namespace ttmem::recording
