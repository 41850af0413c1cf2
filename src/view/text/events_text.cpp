// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <ctime>

#include "view/text/format.hpp"
#include "view/text/parts.hpp"
#include "view/text/screens.hpp"
#include "view/text/table.hpp"

namespace ttmem::view {

namespace {

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
    using history::RecordType;
    if (event.type == RecordType::process_started || event.type == RecordType::process_died) {
        return event.type == RecordType::process_started ? "started" : "died";
    }
    std::string text(name_of(event.type));
    std::replace(text.begin(), text.end(), '_', ' ');
    return text;
}

std::string name_text(const EventView& event) {
    using history::RecordType;
    if (event.count) {
        return format_count(*event.count, "event", "events") + " missed";
    }
    if (event.type == RecordType::process_started || event.type == RecordType::process_died) {
        return "process " + type_text(event);
    }
    return event.name.value_or("-");
}

std::string note_text(const EventView& event) {
    return event.adds_bytes == false ? "adds no bytes" : event.kernel_type.value_or("-");
}

Column left_column(std::string title, size_t room) {
    return {std::move(title), kLeft, 0, 0, Column::KeptPart::beginning, room};
}

// The titles, and one line per event. Tables of single events are aligned with each other.
Text event_table(const std::vector<EventView>& events, const Style& style) {
    Table table({left_column("TIME", 12),
                 pid_column(),
                 left_column("EVENT", 10),
                 left_column("KIND", 8),
                 bytes_column("REQUESTED", 0, style),
                 {"DEV", kLeft, 0, 4, Column::KeptPart::beginning, 4},
                 {"NOTE", kLeft, 1, 0, Column::KeptPart::beginning, 13},
                 {"ADDRESS", kRight, 2, 0, Column::KeptPart::beginning, 10},
                 {"NAME", kLeft, 0, 12, Column::KeptPart::end}});
    table.align_with_others();
    for (const EventView& event : events) {
        table.add({time_of_day(event.time_ns), std::to_string(event.pid), type_text(event),
                   event.kind ? std::string(name_of(*event.kind)) : "-",
                   event.requested ? format_bytes(*event.requested, style.bytes) : "-",
                   format_ids(event.devices), note_text(event),
                   event.address ? fmt::format("{:#x}", *event.address) : "-", name_text(event)});
    }
    return table.text(style);
}

Style without_notes(Style style) {
    style.names_left_out = false;
    return style;
}

}  // namespace

std::string hidden_events_line(uint64_t events) {
    return events == 0 ? "" : format_count(events, "event", "events") + " of other users' processes";
}

Line event_titles(const Style& style) {
    const Text table = event_table({}, without_notes(style));
    return table.empty() ? Line() : table.lines().front();
}

Line event_line(const EventView& event, const Style& style) {
    const Text table = event_table({event}, without_notes(style));
    return table.empty() ? Line() : table.lines().back();
}

Text event_lines(const EventsView& view, const Style& style) {
    Text text;
    if (view.missed != 0) {
        text.add(fmt::format("({} no longer kept)",
                             format_count(view.missed, "earlier event is", "earlier events are")));
    }
    for (const EventView& event : view.events) {
        text.add(event_line(event, style));
    }
    return text;
}

Text events_text(const EventsView& view, const Style& style) {
    if (view.missed == 0 && view.events.empty() && view.hidden_events == 0) {
        return Text().add(view.origin.source == OriginSource::recording
                              ? "No events in the recording until this moment."
                              : "No events since the daemon started.");
    }
    if (view.events.empty() && view.hidden_events != 0) {
        return event_lines(view, style)
            .add("No events of your processes.")
            .add(hidden_text(hidden_events_line(view.hidden_events)));
    }
    // Titles and notes of the table come first: with --follow, more events come after the last one.
    return event_table({}, style)
        .add(event_lines(view, style))
        .add(hidden_text(hidden_events_line(view.hidden_events)));
}

}  // namespace ttmem::view
