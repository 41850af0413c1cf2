// SPDX-License-Identifier: Apache-2.0
#include "view/json.hpp"

#include "view/change.hpp"
#include "view/json_document.hpp"
#include "view/run.hpp"

namespace ttmem::view {

void fields(auto& io, Like<census::MemoryFigures> auto& memory) {
    io.unless_unknown("used", memory.used, memory.is_known);
    io.unless_unknown("requested", memory.requested, memory.is_known);
    io("capacity", memory.capacity);
    io.unless_unknown("peak", memory.peak, memory.is_known);
    io("peak_exact", memory.peak_exact);
    io.unless_unknown("count", memory.count, memory.is_count_known);
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

void fields(auto& io, Like<census::Telemetry> auto& telemetry) {
    io("temperature_c", telemetry.temperature_c);
    io("temperature_max_c", telemetry.temperature_max_c);
    io("power_w", telemetry.power_w);
    io("power_max_w", telemetry.power_max_w);
    io("current_a", telemetry.current_a);
    io("current_max_a", telemetry.current_max_a);
    io("voltage_v", telemetry.voltage_v);
    io("voltage_max_v", telemetry.voltage_max_v);
    io("aiclk_mhz", telemetry.aiclk_mhz);
    io("axiclk_mhz", telemetry.axiclk_mhz);
    io("arcclk_mhz", telemetry.arcclk_mhz);
    io("fan_rpm", telemetry.fan_rpm);
    io("thermal_trips", telemetry.thermal_trips);
    io("alive", telemetry.is_alive);
}

void fields(auto& io, Like<census::PcieLink> auto& link) {
    io("speed", link.speed);
    io("max_speed", link.max_speed);
    io("width", link.width);
    io("max_width", link.max_width);
}

void fields(auto& io, Like<census::DriverFacts> auto& driver) {
    io("bdf", driver.bdf);
    io("numa_node", driver.numa_node);
    io("serial", driver.serial);
    io("firmware", driver.firmware);
    io("pcie", driver.link);
}

void fields(auto& io, Like<census::DeviceFigures> auto& device) {
    io("id", device.id);
    io("arch", device.arch);
    io("board", device.board);
    io.hex("asic_id", device.asic_id);
    io.derived("bdf", device.driver && device.driver->bdf ? Json(*device.driver->bdf) : Json(nullptr));
    io("remote", device.is_remote);
    io("driver", device.driver);
    io.keyed("memory", kKindNames, device.memory);
    io.keyed("kernel_by_type", census::kKernelTypes, device.kernel_by_type);
    io("l1_worst_core", device.l1_worst_core);
    io("telemetry", device.telemetry);
}

void fields(auto& io, Like<View> auto& view) {
    head(io, view.origin);
    io.derived("exact", view.is_exact());
    io("inexact", view.figures.inexact);
    io("devices", view.figures.devices);
    io("processes", view.figures.processes);
}

void fields(auto& io, Like<LeftBehind> auto& left) {
    io("kind", left.kind);
    io("name", left.name);
    io("used", left.used);
    io("requested", left.requested);
    io("count", left.count);
}

void fields(auto& io, Like<Exceeded> auto& exceeded) {
    io("device", exceeded.device);
    io("kind", exceeded.kind);
    io("peak", exceeded.peak);
    io("limit", exceeded.limit);
}

void fields(auto& io, Like<RunView> auto& view) {
    head(io, view.origin);
    io.derived("exact", view.is_exact());
    io("inexact", view.figures.inexact);
    io("command", view.command);
    io("exit_code", view.exit_code);
    io("signal", view.signal);
    io("lived_ns", view.lived_ns);
    io.derived("leak", view.has_leak());
    io("exceeded", view.exceeded);
    io("left", view.left);
    io("failure_counts", view.failure_counts);
    io("failures", view.failures);
    io("devices", view.figures.devices);
    io("processes", view.figures.processes);
}

void fields(auto& io, Like<ViewChange> auto& change) {
    io("devices", change.devices);
    io("processes", change.processes);
    io("gone_devices", change.gone_devices);
    io("gone_processes", change.gone_processes);
    io("inexact", change.inexact);
}

std::string to_json(const RunView& view) { return write_document(view); }
std::string to_json(const View& view) { return write_document(view); }
base::Expected<View> view_from_json(std::string_view text) { return read_document<View>(text); }
base::Expected<ViewChange> change_from_json(std::string_view text) { return read_document<ViewChange>(text); }

}  // namespace ttmem::view
