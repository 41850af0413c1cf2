// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "view/text/cells.hpp"
#include "view/text/format.hpp"
#include "view/text/parts.hpp"
#include "view/text/screens.hpp"

namespace ttmem::view {

namespace {

using census::DeviceFigures;
using census::Kind;
using census::MemoryFigures;

std::string bytes_or_unknown(std::optional<uint64_t> bytes, const Style& style) {
    return bytes ? format_bytes(*bytes, style.bytes) : "unknown";
}

std::optional<uint64_t> if_known(const MemoryFigures& memory, uint64_t amount) {
    return memory.is_known ? std::optional(amount) : std::nullopt;
}

// One line per device: DRAM, and the core whose L1 is fullest.
Text device_table(const View& view, const Style& style, size_t bar_width) {
    Table table({{"DEV"},
                 {"BOARD", kLeft, 0, 5},
                 {"DRAM USED / CAPACITY"},
                 {"", kLeft},
                 {"FULLEST CORE", kLeft},
                 {"HEADROOM"},
                 {"PROC"}});
    for (const DeviceFigures& device : view.figures.devices) {
        table.add({std::to_string(device.id), device.board.value_or("-"), dram_text(device, style.bytes),
                   dram_gauge(device, bar_width), l1_gauge(device, bar_width),
                   headroom_cell(device.l1_worst_core, style.bytes),
                   std::to_string(holder_count(view, device.id))});
    }
    return table.text(style);
}

// With the longest bars that fit.
Text device_table(const View& view, const Style& style) {
    for (const size_t bar_width : {size_t{20}, size_t{8}}) {
        Text text = device_table(view, style, bar_width);
        if (text.empty() || text.lines().front().width() <= style.width) {
            return text;
        }
    }
    return device_table(view, style, 0);
}

// What the driver reports; empty without a driver.
Text telemetry_table(const View& view, const Style& style) {
    Table table({{"DEV"},
                 {"BUS", kLeft},
                 {"TEMPERATURE"},
                 {"POWER"},
                 {"AICLK"},
                 {"FIRMWARE", kLeft, 1},
                 {"FAN", kRight, 2},
                 {"VERSION", kLeft, 3},
                 {"LINK", kLeft, 4}});
    bool has_driver = false;
    for (const DeviceFigures& device : view.figures.devices) {
        const census::Telemetry& telemetry = device.telemetry;
        const census::DriverFacts facts = device.driver.value_or(census::DriverFacts{});
        has_driver = has_driver || device.driver;
        table.add({std::to_string(device.id),
                   device.is_remote.value_or(false) ? "remote" : facts.bdf.value_or("-"),
                   limited_cell(telemetry.temperature_c, telemetry.temperature_max_c, "C"),
                   limited_cell(telemetry.power_w, telemetry.power_max_w, "W"),
                   number_text(telemetry.aiclk_mhz, "MHz"), firmware_cell(telemetry),
                   number_text(telemetry.fan_rpm, "rpm"), facts.firmware.value_or("-"), link_text(facts)});
    }
    return has_driver ? Text().blank().add(table.text(style)) : Text();
}

bool is_worth_a_line(const MemoryFigures& memory) {
    return memory.is_known && (memory.used | memory.peak | memory.count | memory.planned | memory.views) != 0;
}

// Devices with equal figures, such as the members of a mesh, share one line.
std::vector<std::vector<const DeviceFigures*>> group_by_memory(const std::vector<DeviceFigures>& devices,
                                                               size_t kind) {
    std::vector<std::vector<const DeviceFigures*>> groups;
    for (const DeviceFigures& device : devices) {
        if (!is_worth_a_line(device.memory[kind])) {
            continue;
        }
        const auto equal = std::find_if(groups.begin(), groups.end(), [&](const auto& group) {
            return group.front()->memory[kind] == device.memory[kind];
        });
        if (equal == groups.end()) {
            groups.push_back({&device});
        } else {
            equal->push_back(&device);
        }
    }
    return groups;
}

// Names the kinds without figures. Devices that lack the same kinds share one line.
Text unknown_kinds(const View& view) {
    std::map<std::string, std::vector<uint32_t>> devices_by_kinds;
    for (const DeviceFigures& device : view.figures.devices) {
        std::string kinds;
        for (size_t kind = 0; kind < census::kDeviceKinds; ++kind) {
            if (!device.memory[kind].is_known) {
                kinds += (kinds.empty() ? "" : ", ") + std::string(name_of(static_cast<Kind>(kind)));
            }
        }
        devices_by_kinds[kinds].push_back(device.id);
    }
    devices_by_kinds.erase("");
    Text text;
    for (const auto& [kinds, devices] : devices_by_kinds) {
        text.add(fmt::format("Unknown for {}: {}.", format_devices(devices), kinds));
    }
    return text;
}

Text kind_table(const View& view, const Style& style) {
    Column peak = bytes_column("PEAK", 0, style);
    peak.room += 2;  // ">="
    Table table({{"KIND", kLeft, 0, 0, Column::KeptPart::beginning, 8},
                 {"DEV", kLeft, 0, 5},
                 bytes_column("USED", 0, style),
                 bytes_column("REQUESTED", 3, style),
                 bytes_column("CAPACITY", 4, style),
                 peak,
                 bytes_column("FREE/BANK", 1, style),
                 count_column("COUNT", 2)});
    bool is_empty = true;
    for (size_t kind = 0; kind < census::kDeviceKinds; ++kind) {
        for (const auto& group : group_by_memory(view.figures.devices, kind)) {
            is_empty = false;
            std::vector<uint32_t> ids;
            std::transform(group.begin(), group.end(), std::back_inserter(ids),
                           [](const auto* d) { return d->id; });
            const MemoryFigures& memory = group.front()->memory[kind];
            const bool is_pool = kind < census::kPoolKinds;
            table.add({std::string(name_of(static_cast<Kind>(kind))), format_ids(ids),
                       bytes_or_unknown(if_known(memory, memory.used), style),
                       bytes_or_unknown(if_known(memory, memory.requested), style),
                       is_pool ? bytes_or_unknown(memory.capacity, style) : "-",
                       (memory.peak_exact || !memory.is_known ? "" : ">=") +
                           bytes_or_unknown(if_known(memory, memory.peak), style),
                       is_pool ? bytes_or_unknown(memory.largest_free, style) : "-",
                       memory.is_count_known ? std::to_string(memory.count) : "unknown"});
        }
    }
    if (is_empty) {
        const Text unknown = unknown_kinds(view);
        return unknown.empty() ? Text("Nothing is allocated.\n") : unknown;
    }
    return table.text(style).add(unknown_kinds(view));
}

}  // namespace

Text status_text(const View& view, const Style& style) {
    const auto& figures = view.figures;
    if (figures.processes.empty() && figures.devices.empty()) {
        return no_process_text(view.origin, figures.inexact).add(missed_text(figures.processes_missed));
    }
    const std::string what =
        format_count(figures.devices.size(), "device", "devices") + ", " + processes_text(figures.processes);
    Text text;
    text.add(headline(view.origin, what, view.is_exact())).blank();
    if (figures.devices.empty()) {
        return text.add("No process has opened a device yet.").add(inexact_text(figures.inexact));
    }
    text.add(device_table(view, style)).add(telemetry_table(view, style)).blank();
    text.add(kind_table(view, style)).add(shared_text(view)).add(missed_text(figures.processes_missed));
    return text.add(inexact_text(figures.inexact));
}

}  // namespace ttmem::view
