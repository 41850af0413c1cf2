// SPDX-License-Identifier: Apache-2.0
#pragma once

// What happened, event by event: as a list, or as a stream while it happens.

#include <optional>
#include <string>
#include <vector>

#include "census/device_id_set.hpp"
#include "census/inexactness.hpp"
#include "census/kind.hpp"
#include "history/record.hpp"
#include "view/model/origin.hpp"
#include "view/questions/host.hpp"
#include "view/questions/question.hpp"

namespace ttmem::view {

// Bytes are per device.
struct EventView {
    uint64_t sequence = 0;
    uint64_t time_ns = 0;  // since the epoch
    uint32_t pid = 0;
    history::RecordType type = history::RecordType::allocation;
    std::vector<uint32_t> devices;
    std::optional<census::Kind> kind;
    std::optional<std::string> kernel_type;
    std::optional<uint64_t> address;
    std::optional<uint64_t> requested;
    std::optional<bool> adds_bytes;
    std::optional<std::string> name;  // absent where it is no longer known
    std::optional<uint64_t> count;    // of a gap: the events that were lost

    bool operator==(const EventView&) const = default;
};

// Filters leave events of no device or kind, such as a death or a gap: they may concern each.
struct EventQuery {
    // A sequence number. Absent: the oldest event that is kept; in a stream, the next one that happens.
    std::optional<uint64_t> since = {};
    census::DeviceIdSet device = {};
    std::optional<uint32_t> pid = {};
    census::KindSet kind = {};
    uint64_t limit = 0;                        // 0: all
    std::optional<uint64_t> last = {};         // only the last of those that match, whatever the limit
    bool stream = false;                       // as server-sent events
    std::optional<uint64_t> interval_ms = {};  // of a stream: minimum time between two messages

    bool operator==(const EventQuery&) const = default;
};

struct EventsView {
    Origin origin;
    uint64_t next = 0;    // where to go on: the number of the first event that is not here
    uint64_t missed = 0;  // asked for, and no longer kept
    std::vector<EventView> events;
    uint64_t hidden_events = 0;  // asked for, between those that are here, and of other users
    std::vector<census::Inexactness> inexact = {};

    bool is_exact() const { return inexact.empty(); }
    bool operator==(const EventsView&) const = default;
};

struct Events {
    using Query = EventQuery;
    using View = EventsView;
    static constexpr const char* kName = "events";
    static constexpr const char* kCommand = "events";
    static constexpr const char* kPath = "/v1/events";
    static constexpr const char* kSummary =
        "the last 65,536 events: allocations, frees, device sets, failures, starts and deaths";
    static constexpr Permission kPermission = Permission::details;  // each event has its own check too
    static base::Expected<View> answer(const Host& host, const Query& query);

    // What is still wanted after a page that the daemon has cut, if anything.
    static std::optional<Query> next_page(const Query& query, const View& view);
    static void append(View& view, View page);
};

extern template struct UrlForm<EventQuery>;
extern template struct JsonForm<EventsView>;
extern template struct JsonForm<EventView>;

}  // namespace ttmem::view
