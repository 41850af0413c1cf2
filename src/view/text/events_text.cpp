// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <ctime>

#include "view/text/format.hpp"
#include "view/text/screens.hpp"

namespace ttmem::view {

namespace {

constexpr size_t kTypeWidth = 10;  // "allocation"
constexpr size_t kShortestName = 12;

// "14:03:27.042" in local time.
std::string time_of_day(uint64_t time_ns) {
    constexpr uint64_t kSecond = 1'000'000'000;
    constexpr uint64_t kMillisecond = 1'000'000;
    const auto seconds = static_cast<time_t>(time_ns / kSecond);
    tm parts{};
    localtime_r(&seconds, &parts);
    return fmt::format("{:02}:{:02}:{:02}.{:03}", parts.tm_hour, parts.tm_min, parts.tm_sec,
                       time_ns % kSecond / kMillisecond);
}

std::string type_text(const EventView& event) {
    std::string text(name_of(event.type));
    std::replace(text.begin(), text.end(), '_', ' ');
    return text;
}

}  // namespace

Line event_line(const EventView& event, const Style& style) {
    std::string text = fmt::format("{}  {:>7}  {}", time_of_day(event.time_ns), event.pid, type_text(event));
    if (event.count) {
        return text + fmt::format(": {} missed", format_count(*event.count, "event", "events"));
    }
    if (!event.kind && !event.requested) {
        return text;
    }
    text += fmt::format(
        "{:{}}  {:<8}  {:>10}  {:<4}", "", kTypeWidth - std::min(type_text(event).size(), kTypeWidth),
        event.kind ? name_of(*event.kind) : "-",
        event.requested ? format_bytes(*event.requested, style.bytes) : "-", format_ids(event.devices));
    // Without enough room the address goes first, then the beginning of the name, which says less than its end.
    std::string name = event.name.value_or("");
    std::string more = event.address ? fmt::format("at {:#x}", *event.address) : "";
    if (event.kernel_type) {
        more = "(" + *event.kernel_type + ")";
    }
    if (event.adds_bytes == false) {
        more = "adds no bytes";
    }
    const size_t taken = display_width(text) + 2;
    const size_t left = style.width > taken + kShortestName ? style.width - taken : kShortestName;
    if (style.cut && display_width(name) + display_width(more) + 2 > left) {
        more = name.empty() ? more : "";
        name = cut_beginning(name, left);
    }
    for (const std::string& part : {name, more}) {
        text += part.empty() ? "" : "  " + part;
    }
    return text;
}

Text events_text(const EventsView& view, const Style& style) {
    Text text;
    if (view.missed != 0) {
        text.add(fmt::format("({} no longer kept)",
                             format_count(view.missed, "earlier event is", "earlier events are")));
    }
    for (const EventView& event : view.events) {
        text.add(event_line(event, style));
    }
    return text.empty() ? text.add("No events since the daemon started.") : text;
}

}  // namespace ttmem::view
