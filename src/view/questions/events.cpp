// SPDX-License-Identifier: Apache-2.0
#include "view/questions/events.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "view/json/json_document.hpp"
#include "view/questions/filters.hpp"
#include "view/questions/url.hpp"

namespace ttmem::view {

void fields(auto& io, Like<EventQuery> auto& query) {
    io("since", query.since, "from this sequence number on; default: the oldest, of a stream the next");
    io("device", query.device, "only the devices with these ids");
    io("pid", query.pid, "only this process");
    io("kind", query.kind, kKindsMeaning);
    io.limit("limit", query.limit, "maximum number of events per answer");
    io("last", query.last,
       "only the last N that match, from the first of them on; of a stream, of each message");
    io("stream", query.stream, "send events as they happen");
    io("interval_ms", query.interval_ms, "of a stream: minimum time between two messages");
}

void fields(auto& io, Like<EventView> auto& event) {
    io("sequence", event.sequence, "its number; there are no holes");
    io("time_ns", event.time_ns, "when, since the epoch");
    io("pid", event.pid, "the process");
    io("what", event.type, "what happened");
    io("devices", event.devices, "device ids");
    io("kind", event.kind, "the kind of memory");
    io("kernel_type", event.kernel_type, "`application`, `fabric` or `dispatch`");
    io("address", event.address, "address in each bank");
    io("requested", event.requested, "requested bytes, per device");
    io("adds_bytes", event.adds_bytes, "false: hooked, or a view of other memory");
    io("name", event.name, "the full name; null where it is no longer known");
    io("count", event.count, "of a gap: events that were lost");
}

void fields(auto& io, Like<EventsView> auto& view) {
    head(io, view.origin);
    exactness(io, view);
    io("next_sequence", view.next, "`since` for what follows");
    io("missed", view.missed, "requested events that are no longer kept");
    io("hidden_events", view.hidden_events, "requested events of other users' processes");
    io.rows("events", view.events, "the oldest first");
}

// A line of a stream.
template <>
struct JsonStyle<EventView> {
    static constexpr int indent = kOnOneLine;
    static constexpr int row_indent = kOnOneLine;
    static constexpr bool has_schema = false;
};

template struct UrlForm<EventQuery>;
template struct JsonForm<EventsView>;
template struct JsonForm<EventView>;

base::Expected<EventsView> Events::answer(const Host& host, const EventQuery& query) {
    return host.events(query);
}

std::optional<EventQuery> Events::next_page(const EventQuery& query, const EventsView& view) {
    const bool wants_all = !query.last && query.limit == 0;
    const uint64_t wanted = query.last.value_or(query.limit);
    if (view.events.size() < kMostRows || (!wants_all && view.events.size() >= wanted)) {
        return std::nullopt;
    }
    EventQuery rest = query;
    rest.since = view.next;
    rest.last.reset();
    rest.limit = wants_all ? 0 : wanted - view.events.size();
    return rest;
}

void Events::append(EventsView& view, EventsView page) {
    view.events.insert(view.events.end(), std::make_move_iterator(page.events.begin()),
                       std::make_move_iterator(page.events.end()));
    view.next = page.next;
    view.missed += page.missed;
    view.hidden_events += page.hidden_events;
    for (census::Inexactness& reason : page.inexact) {
        const auto same =
            std::find_if(view.inexact.begin(), view.inexact.end(), [&](const census::Inexactness& one) {
                return one.pid == reason.pid && one.reason == reason.reason;
            });
        same == view.inexact.end() ? view.inexact.push_back(std::move(reason))
                                   : void(same->count += reason.count);
    }
}

}  // namespace ttmem::view
