// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "view/format.hpp"
#include "view/text.hpp"
#include "view/text_parts.hpp"

namespace ttmem::view {

namespace {

using census::DeviceFigures;
using census::Kind;
using census::MemoryFigures;

Tone tone_of(uint64_t part, std::optional<uint64_t> whole) {
    if (!whole || *whole == 0) {
        return Tone::plain;
    }
    const auto share = static_cast<double>(part) / static_cast<double>(*whole);
    return share >= 0.9 ? Tone::bad : share >= 0.7 ? Tone::warn : Tone::good;
}

std::string bytes_or_unknown(std::optional<uint64_t> bytes, const Style& style) {
    return bytes ? format_bytes(*bytes, style.bytes) : "unknown";
}

std::optional<uint64_t> if_known(const MemoryFigures& memory, uint64_t amount) {
    return memory.is_known ? std::optional(amount) : std::nullopt;
}

uint64_t holders_of(const View& view, uint32_t device) {
    const auto holds = [&](const census::ProcessFigures& process) {
        return std::any_of(process.devices.begin(), process.devices.end(),
                           [&](const census::HeldOnDevice& held) { return held.id == device; });
    };
    return static_cast<uint64_t>(
        std::count_if(view.figures.processes.begin(), view.figures.processes.end(), holds));
}

Cell headroom_cell(const census::WorstCore& worst, const Style& style) {
    if (!worst.headroom) {
        return Cell("unknown");
    }
    return Cell(format_signed_bytes(*worst.headroom, style.bytes),
                *worst.headroom < 0 ? Tone::bad : Tone::plain);
}

Cell gauge_cell(uint64_t part, std::optional<uint64_t> whole, size_t bar_width) {
    const std::string percent = format_percent(part, whole);
    const std::string bar = format_bar(part, whole, bar_width);
    return Cell(bar.empty() ? percent : fmt::format("{} {:>4}", bar, percent), tone_of(part, whole));
}

// One line a device: DRAM, and the core whose L1 is fullest.
std::string device_table(const View& view, const Style& style, size_t bar_width) {
    Table table({{"DEV"},
                 {"BOARD", kLeft, 0, 5},
                 {"DRAM USED / CAPACITY"},
                 {"", kLeft},
                 {"L1 CORE", kLeft},
                 {"HEADROOM"},
                 {"PROC"}});
    for (const DeviceFigures& device : view.figures.devices) {
        const MemoryFigures& dram = device.memory[index_of(Kind::dram)];
        const census::WorstCore& l1 = device.l1_worst_core;
        table.add({std::to_string(device.id), device.board.value_or("-"),
                   bytes_or_unknown(if_known(dram, dram.used), style) + " / " +
                       bytes_or_unknown(dram.capacity, style),
                   gauge_cell(dram.used, dram.is_known ? dram.capacity : std::nullopt, bar_width),
                   gauge_cell(l1.used.value_or(0), l1.used ? l1.capacity : std::nullopt, bar_width),
                   headroom_cell(l1, style), std::to_string(holders_of(view, device.id))});
    }
    return table.text(style);
}

// With the longest bars that fit.
std::string device_table(const View& view, const Style& style) {
    Style plain = style;
    plain.colour = false;
    for (const size_t bar_width : {size_t{20}, size_t{8}}) {
        const std::string text = device_table(view, plain, bar_width);
        if (display_width(std::string_view(text).substr(0, text.find('\n'))) <= style.width) {
            return device_table(view, style, bar_width);
        }
    }
    return device_table(view, style, 0);
}

// "45 / 75 C": a figure and the limit that it must keep below; "-" where the driver does not tell.
Cell limited_cell(std::optional<double> value, std::optional<double> most, std::string_view unit) {
    if (!value) {
        return Cell("-");
    }
    const std::string limit = most ? fmt::format(" / {:.0f}", *most) : "";
    return Cell(fmt::format("{:.0f}{} {}", *value, limit, unit),
                most && *value >= *most ? Tone::bad : Tone::plain);
}

Cell firmware_cell(const census::Telemetry& telemetry) {
    if (!telemetry.is_alive) {
        return Cell("-");
    }
    return *telemetry.is_alive ? Cell("alive") : Cell("stuck", Tone::bad);
}

std::string number_or_dash(std::optional<uint32_t> number, std::string_view unit) {
    return number ? fmt::format("{} {}", *number, unit) : "-";
}

// What the driver says, where there is one.
std::string telemetry_table(const View& view, const Style& style) {
    Table table({{"DEV"},
                 {"BUS", kLeft},
                 {"TEMPERATURE"},
                 {"POWER"},
                 {"AICLK"},
                 {"HEART", kLeft, 1},
                 {"FAN", kRight, 2},
                 {"FIRMWARE", kLeft, 3},
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
                   number_or_dash(telemetry.aiclk_mhz, "MHz"), firmware_cell(telemetry),
                   number_or_dash(telemetry.fan_rpm, "rpm"), facts.firmware.value_or("-"),
                   facts.link.speed && facts.link.width
                       ? fmt::format("{} x{}", *facts.link.speed, *facts.link.width)
                       : "-"});
    }
    return has_driver ? "\n" + table.text(style) : "";
}

bool is_worth_a_line(const MemoryFigures& memory) {
    return memory.is_known && (memory.used | memory.peak | memory.count | memory.planned | memory.views) != 0;
}

// Devices that a mesh keeps in lockstep have equal figures, and one line together.
std::vector<std::vector<const DeviceFigures*>> group_by_memory(const std::vector<DeviceFigures>& devices,
                                                               size_t kind) {
    std::vector<std::vector<const DeviceFigures*>> groups;
    for (const DeviceFigures& device : devices) {
        if (!is_worth_a_line(device.memory[kind])) {
            continue;
        }
        const auto alike = std::find_if(groups.begin(), groups.end(), [&](const auto& group) {
            return group.front()->memory[kind] == device.memory[kind];
        });
        if (alike == groups.end()) {
            groups.push_back({&device});
        } else {
            alike->push_back(&device);
        }
    }
    return groups;
}

// What nobody tells of devices that somebody uses, in few lines: devices alike have one together.
std::string unknown_kinds(const View& view) {
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
    std::string text;
    for (const auto& [kinds, devices] : devices_by_kinds) {
        text += fmt::format("Not known of device {}: {}.\n", format_ids(devices), kinds);
    }
    return text;
}

std::string kind_table(const View& view, const Style& style) {
    Table table({{"KIND", kLeft},
                 {"DEV", kLeft, 0, 5},
                 {"USED"},
                 {"REQUESTED", kRight, 2},
                 {"CAPACITY", kRight, 3},
                 {"PEAK"},
                 {"FREE/BANK", kRight, 1},
                 {"COUNT", kRight, 4}});
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
        return unknown_kinds(view).empty() ? "Nothing is allocated.\n" : unknown_kinds(view);
    }
    std::vector<std::string> left_out;
    const std::string text = table.text(style, &left_out);
    return text + unknown_kinds(view) + left_out_text(left_out);
}

}  // namespace

std::string status_text(const View& view, const Style& style) {
    const auto& figures = view.figures;
    if (figures.processes.empty() && figures.devices.empty()) {
        return nobody_text(view.origin, figures.inexact, style);
    }
    const std::string what =
        format_count(figures.devices.size(), "device", "devices") + ", " + processes_text(figures.processes);
    std::string text = headline(view.origin, what, view.is_exact(), style);
    if (figures.devices.empty()) {
        return text + "\nNo process has opened a device yet.\n" + inexact_text(figures.inexact, style);
    }
    return text + "\n" + device_table(view, style) + telemetry_table(view, style) + "\n" +
           kind_table(view, style) + inexact_text(figures.inexact, style);
}

}  // namespace ttmem::view
