// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "view/format.hpp"
#include "view/text.hpp"
#include "view/text_parts.hpp"

namespace ttmem::view {

namespace {

using census::DeviceFigures;
using census::Kind;
using census::MemoryFigures;

// "    L1 Buffers: [####......]   42.5 MiB /   74.4 MiB (57%), peak 50.0 MiB".
std::string line(const std::string& title, std::optional<uint64_t> used, std::optional<uint64_t> capacity,
                 const std::string& more, const Style& style) {
    const size_t bar_width = style.bytes ? 10 : 14;
    std::string text = fmt::format("    {:<12}", title + ":");
    if (!used) {
        return text + "not known\n";
    }
    text += fmt::format("{:<{}} {:>10}", format_bar(*used, capacity, bar_width), bar_width,
                        format_bytes(*used, style.bytes));
    if (capacity) {
        text += fmt::format(" / {:>10} ({})", format_bytes(*capacity, style.bytes),
                            format_percent(*used, capacity));
    }
    return text + more + "\n";
}

std::string line(const std::string& title, const MemoryFigures& memory, const Style& style) {
    const std::string peak =
        memory.is_known ? fmt::format(", peak {}{}",
                                      memory.peak_exact ? "" : ">=", format_bytes(memory.peak, style.bytes))
                        : "";
    return line(title, memory.is_known ? std::optional(memory.used) : std::nullopt, memory.capacity, peak,
                style);
}

std::string worst_core(const census::WorstCore& worst, const Style& style) {
    if (!worst.used) {
        return "";
    }
    const std::string headroom =
        worst.headroom ? ", headroom " + format_signed_bytes(*worst.headroom, style.bytes) : "";
    return line("Total L1", worst.used, worst.capacity, headroom, style);
}

std::string breakdown(const DeviceFigures& device, const Style& style) {
    const auto of = [&](Kind kind) -> const MemoryFigures& { return device.memory[index_of(kind)]; };
    std::string text = fmt::format("{}{}:\n  Memory Breakdown:\n",
                                   coloured(fmt::format("Device {}", device.id), Tone::title, style),
                                   device.board ? " (" + *device.board + ")" : "");
    text += line("DRAM", of(Kind::dram), style);
    text += line("L1 Buffers", of(Kind::l1), style);
    text += line("CBs", of(Kind::cb), style);
    text += line("Kernels", of(Kind::kernel), style);
    // Regions that nobody has set up have no room and hold nothing.
    for (const Kind kind : {Kind::l1_small, Kind::trace}) {
        const MemoryFigures& memory = of(kind);
        if (!memory.is_known || memory.used != 0 || memory.capacity.value_or(0) != 0) {
            text += line(kind == Kind::trace ? "Trace" : "L1_SMALL", memory, style);
        }
    }
    return text + worst_core(device.l1_worst_core, style);
}

}  // namespace

std::string breakdown_text(const View& view, const Style& style) {
    if (view.figures.devices.empty()) {
        return nobody_text(view.origin, view.figures.inexact, style);
    }
    std::string text = headline(view.origin,
                                format_count(view.figures.devices.size(), "device", "devices") + ", " +
                                    processes_text(view.figures.processes),
                                view.is_exact(), style);
    for (const DeviceFigures& device : view.figures.devices) {
        text += "\n" + breakdown(device, style);
    }
    text += "\nTotal L1 is that of the fullest core: L1 buffers and any one program's CBs.\n";
    return text + inexact_text(view.figures.inexact, style);
}

}  // namespace ttmem::view
