// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "view/text/cells.hpp"
#include "view/text/format.hpp"
#include "view/text/parts.hpp"
#include "view/text/screens.hpp"

namespace ttmem::view {

namespace {

using census::DeviceFigures;
using census::Kind;
using census::MemoryFigures;

// "    L1 Buffers: [####......]   42.5 MiB /   74.4 MiB (57%), peak 50.0 MiB". The bar has no tone here.
Line memory_line(const std::string& title, std::optional<uint64_t> used, std::optional<uint64_t> capacity,
                 const std::string& more, const Style& style) {
    const size_t bar_width = style.bytes ? 10 : 14;
    Line line = fmt::format("    {:<12}", title + ":");
    if (!used) {
        return line.add("unknown");
    }
    const std::string drawn = format_bar(*used, capacity, bar_width);
    line.add(Span{drawn, Tone::plain, Shape::bar});
    line.add(fmt::format("{:{}} {:>10}", "", bar_width - drawn.size(), format_bytes(*used, style.bytes)));
    if (capacity) {
        line.add(fmt::format(" / {:>10} ({})", format_bytes(*capacity, style.bytes),
                             format_percent(*used, capacity)));
    }
    return line.add(more);
}

Line memory_line(const std::string& title, const MemoryFigures& memory, const Style& style) {
    const std::string peak =
        memory.is_known
            ? fmt::format(", peak {}{}", memory.peak_exact ? "" : ">=", prose_bytes(memory.peak, style.bytes))
            : "";
    return memory_line(title, memory.is_known ? std::optional(memory.used) : std::nullopt, memory.capacity,
                       peak, style);
}

Text worst_core_text(const census::WorstCore& worst, const Style& style) {
    if (!worst.used) {
        return {};
    }
    const std::string headroom =
        worst.headroom ? ", headroom " + prose_signed_bytes(*worst.headroom, style.bytes) : "";
    return Text().add(memory_line("Total L1", worst.used, worst.capacity, headroom, style));
}

Text device_breakdown(const DeviceFigures& device, const Style& style) {
    const auto of = [&](Kind kind) -> const MemoryFigures& { return device.memory[index_of(kind)]; };
    Text text;
    text.add(Line(fmt::format("Device {}", device.id), Tone::title)
                 .add(device.board ? " (" + *device.board + "):" : ":"));
    text.add("  Memory Breakdown:");
    text.add(memory_line("DRAM", of(Kind::dram), style));
    text.add(memory_line("L1 Buffers", of(Kind::l1), style));
    // Circular buffers and kernels lie in L1 and have no region of their own.
    for (const Kind kind : {Kind::cb, Kind::kernel}) {
        MemoryFigures memory = of(kind);
        memory.capacity = of(Kind::l1).capacity;
        text.add(memory_line(kind == Kind::cb ? "CBs" : "Kernels", memory, style));
    }
    // A region that is not set up has no capacity and no bytes.
    for (const Kind kind : {Kind::l1_small, Kind::trace}) {
        const MemoryFigures& memory = of(kind);
        if (!memory.is_known || memory.used != 0 || memory.capacity.value_or(0) != 0) {
            text.add(memory_line(kind == Kind::trace ? "Trace" : "L1_SMALL", memory, style));
        }
    }
    return text.add(worst_core_text(device.l1_worst_core, style));
}

Line absent_line(uint32_t id) {
    return Line(fmt::format("Device {}", id), Tone::title)
        .add(": absent (no process and no driver reports it)");
}

}  // namespace

Text breakdown_text(const View& view, const Style& style) { return monitor_text(view, style, {}); }

Text monitor_text(const View& view, const Style& style, const std::vector<uint32_t>& absent) {
    if (view.figures.devices.empty() && absent.empty()) {
        return no_process_text(view.origin, view.figures.inexact);
    }
    Text text;
    text.add(headline(view.origin,
                      format_count(view.figures.devices.size(), "device", "devices") + ", " +
                          processes_text(view.figures.processes),
                      view.is_exact()));
    for (const DeviceFigures& device : view.figures.devices) {
        text.blank().add(device_breakdown(device, style));
    }
    for (const uint32_t id : absent) {
        text.blank().add(absent_line(id));
    }
    if (view.figures.devices.empty()) {
        return text.add(inexact_text(view.figures.inexact));
    }
    text.blank().add("Total L1: L1 buffers and one program's circular buffers on the fullest core.");
    text.add(shared_text(view)).add(missed_text(view.figures.processes_missed));
    return text.add(inexact_text(view.figures.inexact));
}

}  // namespace ttmem::view
