// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "view/format.hpp"
#include "view/text.hpp"
#include "view/text_parts.hpp"

namespace ttmem::view {

namespace {

using census::DeviceFigures;
using census::Kind;
using census::MemoryFigures;

constexpr auto kLeft = Column::Align::left;
constexpr auto kRight = Column::Align::right;

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
                   format_bytes(dram.used, style.bytes) + " / " + bytes_or_unknown(dram.capacity, style),
                   gauge_cell(dram.used, dram.capacity, bar_width),
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

bool is_worth_a_line(const MemoryFigures& memory) {
    return (memory.used | memory.peak | memory.count | memory.planned | memory.views) != 0;
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
                       format_bytes(memory.used, style.bytes), format_bytes(memory.requested, style.bytes),
                       is_pool ? bytes_or_unknown(memory.capacity, style) : "-",
                       (memory.peak_exact ? "" : ">=") + format_bytes(memory.peak, style.bytes),
                       is_pool ? bytes_or_unknown(memory.largest_free, style) : "-",
                       std::to_string(memory.count)});
        }
    }
    if (is_empty) {
        return "Nothing is allocated.\n";
    }
    std::vector<std::string> left_out;
    const std::string text = table.text(style, &left_out);
    return text + left_out_text(left_out);
}

}  // namespace

std::string status_text(const View& view, const Style& style) {
    const auto& figures = view.figures;
    if (figures.processes.empty() && figures.devices.empty()) {
        return nobody_text(view.origin, figures.inexact, style);
    }
    const std::string what = format_count(figures.devices.size(), "device", "devices") + ", " +
                             format_count(figures.processes.size(), "tracked process", "tracked processes");
    std::string text = headline(view.origin, what, view.is_exact(), style);
    if (figures.devices.empty()) {
        return text + "\nNo process has opened a device yet.\n" + inexact_text(figures.inexact, style);
    }
    return text + "\n" + device_table(view, style) + "\n" + kind_table(view, style) +
           inexact_text(figures.inexact, style);
}

}  // namespace ttmem::view
