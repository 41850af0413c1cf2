// SPDX-License-Identifier: Apache-2.0
#include "view/json.hpp"

#include "view/json_document.hpp"

namespace ttmem::view {

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

void fields(auto& io, Like<View> auto& view) {
    head(io, view.origin);
    io.derived("exact", view.is_exact());
    io("inexact", view.figures.inexact);
    io("devices", view.figures.devices);
    io("processes", view.figures.processes);
}

std::string to_json(const View& view) { return write_document(view); }
base::Expected<View> view_from_json(std::string_view text) { return read_document<View>(text); }

}  // namespace ttmem::view
