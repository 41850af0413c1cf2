// SPDX-License-Identifier: Apache-2.0
#include "view/json.hpp"

#include "view/json_io.hpp"

namespace ttmem::view {

namespace {

constexpr std::array<std::string_view, census::kDeviceKinds> kKindNames = {"dram",  "l1", "l1_small",
                                                                           "trace", "cb", "kernel"};

}  // namespace

// The schema, one list a type, in the order in which people read it. Each must be declared before it is used.

void fields(auto& io, Like<census::Inexactness> auto& inexact) {
    io("pid", inexact.pid);
    io("reason", inexact.reason);
    io("count", inexact.count);
    io("skipped", inexact.skipped);
}

void fields(auto& io, Like<census::MemoryFigures> auto& memory) {
    io("used", memory.used);
    io("requested", memory.requested);
    io("capacity", memory.capacity);
    io("peak", memory.peak);
    io("peak_exact", memory.peak_exact);
    io("count", memory.count);
    io("planned", memory.planned);
    io("views", memory.views);
    io("largest_free", memory.largest_free);
}

void fields(auto& io, Like<census::WorstCore> auto& worst) {
    io("core", worst.core);
    io("cb_top", worst.cb_top);
    io("lowest_buffer", worst.lowest_buffer);
    io("headroom", worst.headroom);
    io("used", worst.used);
    io("capacity", worst.capacity);
}

void fields(auto& io, Like<census::DeviceFigures> auto& device) {
    io("id", device.id);
    io("arch", device.arch);
    io("board", device.board);
    io.hex("asic_id", device.asic_id);
    io.derived("bdf", nullptr);
    io.keyed("memory", kKindNames, device.memory);
    io.keyed("kernel_by_type", census::kKernelTypes, device.kernel_by_type);
    io("l1_worst_core", device.l1_worst_core);
    io.derived("telemetry", Json{{"temperature_c", nullptr}, {"power_w", nullptr}, {"aiclk_mhz", nullptr}});
}

void fields(auto& io, Like<census::Held> auto& held) {
    io("used", held.used);
    io("requested", held.requested);
    io("count", held.count);
}

void fields(auto& io, Like<census::HeldOnDevice> auto& held) {
    io("id", held.id);
    io("logical_id", held.logical_id);
    io.keyed("memory", kKindNames, held.memory);
}

void fields(auto& io, Like<census::ProcessFigures> auto& process) {
    io("pid", process.pid);
    io("start_time_ns", process.start_time_ns);
    io("comm", process.comm);
    io("uid", process.uid);
    io("user", process.user);
    io("state", process.state);
    io("source", process.source);
    io("devices", process.devices);
    // Who looks directly follows no rings.
    io.derived("events", Json{{"followed", nullptr}, {"lost", nullptr}});
}

void fields(auto& io, Like<census::LiveAllocation> auto& live) {
    io("pid", live.pid);
    io("devices", live.devices);
    io("set", live.set);
    io("kind", live.kind);
    io("kernel_type", live.kernel_type);
    io("address", live.address);
    io("requested", live.requested);
    io("used", live.used);
    io("planned", live.planned);
    io("view", live.view);
    io("reserved_known", live.reserved_known);
    io("name", live.name);
    io("owner", live.owner);
    io("thread", live.thread);
    io("age_ns", live.age_ns);
}

void head(auto& io, Like<Origin> auto& origin) {
    io.derived("schema", kSchema);
    io("host", origin.host);
    io("time_ns", origin.time_ns);
    io("source", origin.source);
}

void fields(auto& io, Like<View> auto& view) {
    head(io, view.origin);
    io.derived("exact", view.is_exact());
    io("inexact", view.figures.inexact);
    io("devices", view.figures.devices);
    io("processes", view.figures.processes);
}

void head_of_list(auto& io, Like<AllocationView> auto& view) {
    head(io, view.origin);
    io.derived("exact", view.is_exact());
    io("inexact", view.inexact);
    io("tracked_processes", view.processes);
    io("total", view.total);
    io.derived("left_out", view.left_out());
}

void fields(auto& io, Like<AllocationView> auto& view) {
    head_of_list(io, view);
    io("allocations", view.allocations);
}

namespace {

constexpr int kOnOneLine = -1;
constexpr int kIndented = 2;

// Texts are made printable where they are read; should one not be, it must not cost the whole document.
std::string dump(JsonWriter& writer, int indent) {
    return writer.take().dump(indent, ' ', false, Json::error_handler_t::replace);
}

template <class T>
base::Expected<T> read(std::string_view text) {
    T view;
    try {
        const Json json = Json::parse(text);
        JsonReader reader(json);
        uint32_t schema = 0;
        reader("schema", schema);
        if (schema != kSchema) {
            return base::error(base::Error::Code::refused, "the view has schema " + std::to_string(schema) +
                                                               ", and this program knows " +
                                                               std::to_string(kSchema));
        }
        fields(reader, view);
    } catch (const std::exception& problem) {
        return base::error(base::Error::Code::refused,
                           std::string("the view can't be read: ") + problem.what());
    }
    return view;
}

}  // namespace

std::string to_json(const View& view) {
    JsonWriter writer;
    fields(writer, view);
    return dump(writer, kIndented) + "\n";
}

// The list may be long: one allocation a line, and each is text before the next is taken up.
std::string to_json(const AllocationView& view) {
    JsonWriter writer;
    head_of_list(writer, view);
    std::string text = dump(writer, kIndented);
    text.erase(text.rfind('\n'));  // the end of the object
    text += ",\n  \"allocations\": [";
    const char* separator = "\n    ";
    for (const census::LiveAllocation& live : view.allocations) {
        fields(writer, live);
        text += separator + dump(writer, kOnOneLine);
        separator = ",\n    ";
    }
    return text + (view.allocations.empty() ? "]\n}\n" : "\n  ]\n}\n");
}

base::Expected<View> view_from_json(std::string_view text) { return read<View>(text); }
base::Expected<AllocationView> allocations_from_json(std::string_view text) {
    return read<AllocationView>(text);
}

}  // namespace ttmem::view
