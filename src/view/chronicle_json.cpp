// SPDX-License-Identifier: Apache-2.0
#include "view/chronicle.hpp"
#include "view/json_io.hpp"

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

namespace {

template <class T>
std::string write(const T& view, int indent) {
    JsonWriter writer;
    fields(writer, view);
    return writer.take().dump(indent, ' ', false, Json::error_handler_t::replace);
}

template <class T>
base::Expected<T> read_fields(std::string_view text) {
    T view;
    try {
        const Json json = Json::parse(text);
        JsonReader reader(json);
        fields(reader, view);
    } catch (const std::exception& problem) {
        return base::error(base::Error::Code::refused,
                           std::string("the answer can't be read: ") + problem.what());
    }
    return view;
}

constexpr int kOnOneLine = -1;
constexpr int kIndented = 1;

}  // namespace

std::string to_json(const EventView& view) { return write(view, kOnOneLine); }
std::string to_json(const EventsView& view) { return write(view, kIndented) + "\n"; }
std::string to_json(const HistoryView& view) { return write(view, kOnOneLine) + "\n"; }
std::string to_json(const SelfView& view) { return write(view, kIndented) + "\n"; }

base::Expected<EventView> event_from_json(std::string_view text) { return read_fields<EventView>(text); }
base::Expected<EventsView> events_from_json(std::string_view text) { return read_fields<EventsView>(text); }
base::Expected<HistoryView> history_from_json(std::string_view text) {
    return read_fields<HistoryView>(text);
}
base::Expected<SelfView> self_from_json(std::string_view text) { return read_fields<SelfView>(text); }

}  // namespace ttmem::view
