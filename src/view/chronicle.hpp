// SPDX-License-Identifier: Apache-2.0
#pragma once

// What only a daemon knows, because it was there: events, values over time, and what it costs itself.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "census/kind.hpp"
#include "history/series.hpp"
#include "view/view.hpp"

namespace ttmem::view {

// One thing that happened. Bytes are those on each of its devices.
struct EventView {
    uint64_t sequence = 0;
    uint64_t time_ns = 0;  // since the epoch
    uint32_t pid = 0;
    std::string
        what;  // "allocation", "free", "set_opened", "set_closed", "failure", "gap", "process_started", "process_died"
    std::vector<uint32_t> devices;
    std::optional<census::Kind> kind;
    std::optional<std::string> kernel_type;
    std::optional<uint64_t> address;
    std::optional<uint64_t> requested;
    std::optional<bool> adds_bytes;
    std::optional<std::string> name;  // absent where it is not known any more
    std::optional<uint64_t> count;    // of a gap: the events that were lost

    bool operator==(const EventView&) const = default;
};

struct EventsView {
    Origin origin;
    uint64_t next = 0;    // where to go on: the number of the first event that is not here
    uint64_t missed = 0;  // asked for, and not kept any more
    std::vector<EventView> events;

    bool operator==(const EventsView&) const = default;
};

struct SeriesView {
    uint32_t device = 0;
    census::Kind kind = census::Kind::dram;
    std::vector<history::Sample> samples;  // used bytes

    bool operator==(const SeriesView&) const = default;
};

struct HistoryView {
    Origin origin;
    std::vector<SeriesView> series;

    bool operator==(const HistoryView&) const = default;
};

// What ttmemd itself costs, and how well it keeps up.
struct SelfView {
    Origin origin;
    std::string version;
    uint32_t pid = 0;
    uint64_t uptime_ns = 0;
    uint64_t cpu_ns = 0;
    uint64_t memory_bytes = 0;  // resident, the segments of others not counted
    uint64_t segment_bytes = 0;
    uint64_t processes = 0;
    uint64_t post_mortems = 0;
    uint64_t connections = 0;
    uint64_t events_followed = 0;
    uint64_t events_lost = 0;
    uint64_t events_per_second = 0;
    uint64_t lag_ns = 0;  // how old the oldest event of the last look was
    uint64_t audits = 0;
    uint64_t defects = 0;
    uint64_t log_lines_lost = 0;

    bool operator==(const SelfView&) const = default;
};

std::string to_json(const EventView& view);  // on one line
std::string to_json(const EventsView& view);
std::string to_json(const HistoryView& view);
std::string to_json(const SelfView& view);

base::Expected<EventView> event_from_json(std::string_view text);
base::Expected<EventsView> events_from_json(std::string_view text);
base::Expected<HistoryView> history_from_json(std::string_view text);
base::Expected<SelfView> self_from_json(std::string_view text);

}  // namespace ttmem::view
