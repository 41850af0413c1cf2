// SPDX-License-Identifier: Apache-2.0
#include "view/chronicle.hpp"
#include "view/json_document.hpp"

namespace ttmem::view {

void fields(auto& io, Like<EventView> auto& event) {
    io("sequence", event.sequence);
    io("time_ns", event.time_ns);
    io("pid", event.pid);
    io("what", event.what);
    io("devices", event.devices);
    io("kind", event.kind);
    io("kernel_type", event.kernel_type);
    io("address", event.address);
    io("requested", event.requested);
    io("adds_bytes", event.adds_bytes);
    io("name", event.name);
    io("count", event.count);
}

void fields(auto& io, Like<history::Sample> auto& sample) {
    io("time_ns", sample.time_ns);
    io("used", sample.value);
}

void fields(auto& io, Like<SeriesView> auto& series) {
    io("device", series.device);
    io("kind", series.kind);
    io("samples", series.samples);
}

namespace {

void origin_fields(auto& io, auto& origin) {
    io.derived("schema", kSchema);
    io("host", origin.host);
    io("time_ns", origin.time_ns);
    io("source", origin.source);
}

}  // namespace

void fields(auto& io, Like<EventsView> auto& view) {
    origin_fields(io, view.origin);
    io("next", view.next);
    io("missed", view.missed);
    io("events", view.events);
}

void fields(auto& io, Like<HistoryView> auto& view) {
    origin_fields(io, view.origin);
    io("series", view.series);
}

void fields(auto& io, Like<SelfView> auto& view) {
    origin_fields(io, view.origin);
    io("version", view.version);
    io("pid", view.pid);
    io("uptime_ns", view.uptime_ns);
    io("cpu_ns", view.cpu_ns);
    io("memory_bytes", view.memory_bytes);
    io("segment_bytes", view.segment_bytes);
    io("processes", view.processes);
    io("post_mortems", view.post_mortems);
    io("connections", view.connections);
    io("events_followed", view.events_followed);
    io("events_lost", view.events_lost);
    io("events_per_second", view.events_per_second);
    io("lag_ns", view.lag_ns);
    io("audits", view.audits);
    io("defects", view.defects);
    io("log_lines_lost", view.log_lines_lost);
}

std::string to_json(const EventView& view) {
    JsonWriter writer;
    fields(writer, view);
    return dump(writer, kOnOneLine);  // a line of a stream, whose end is not its
}
std::string to_json(const EventsView& view) { return write_document(view); }
std::string to_json(const HistoryView& view) { return write_document(view, kOnOneLine); }
std::string to_json(const SelfView& view) { return write_document(view); }

base::Expected<EventView> event_from_json(std::string_view text) {
    return read_document<EventView>(text, false);
}
base::Expected<EventsView> events_from_json(std::string_view text) { return read_document<EventsView>(text); }
base::Expected<HistoryView> history_from_json(std::string_view text) {
    return read_document<HistoryView>(text);
}
base::Expected<SelfView> self_from_json(std::string_view text) { return read_document<SelfView>(text); }

}  // namespace ttmem::view
