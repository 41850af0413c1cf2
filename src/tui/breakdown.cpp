// SPDX-License-Identifier: Apache-2.0

// What is in use of each kind of memory of one device.

#include <fmt/format.h>

#include <algorithm>

#include "tui/screens.hpp"
#include "view/format.hpp"

namespace ttmem::tui {

namespace {

using census::DeviceFigures;
using census::Kind;
using census::MemoryFigures;

constexpr int kTitles = 14;
constexpr int kAmounts = 24;  // "  5.4 GiB /   12.0 GiB "

struct Line {
    std::string title;
    std::optional<uint64_t> used;
    std::optional<uint64_t> capacity;
    std::string more;
};

std::string peak_of(const MemoryFigures& memory) {
    return memory.is_known
               ? fmt::format("peak {}{}", memory.peak_exact ? "" : ">=", view::format_bytes(memory.peak))
               : "";
}

Line line_of(const std::string& title, const MemoryFigures& memory) {
    return {title, memory.is_known ? std::optional(memory.used) : std::nullopt, memory.capacity,
            peak_of(memory)};
}

std::string free_of(const MemoryFigures& memory) {
    return memory.largest_free
               ? fmt::format(", largest free block {} a bank", view::format_bytes(*memory.largest_free))
               : "";
}

std::string kernels_of(const DeviceFigures& device) {
    std::string text;
    for (size_t i = 0; i < device.kernel_by_type.size(); ++i) {
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", census::kKernelTypes[i],
                            view::format_bytes(device.kernel_by_type[i]));
    }
    return text;
}

std::string worst_core_of(const census::WorstCore& worst) {
    std::string text =
        worst.core ? fmt::format("worst core {},{}", worst.core->x, worst.core->y) : "worst core";
    return worst.headroom ? text + fmt::format(", headroom {}", view::format_signed_bytes(*worst.headroom))
                          : text;
}

std::vector<Line> lines_of(const DeviceFigures& device) {
    const auto of = [&](Kind kind) -> const MemoryFigures& { return device.memory[index_of(kind)]; };
    std::vector<Line> lines = {line_of("DRAM", of(Kind::dram)),
                               line_of("L1 Buffers", of(Kind::l1)),
                               line_of("CBs", of(Kind::cb)),
                               line_of("Kernels", of(Kind::kernel)),
                               line_of("L1_SMALL", of(Kind::l1_small)),
                               line_of("Trace", of(Kind::trace))};
    lines[0].more += free_of(of(Kind::dram));
    lines[1].more += free_of(of(Kind::l1));
    // A region that nobody has set up has no room, and that is not a whole of 0 bytes.
    for (Line& line : lines) {
        line.capacity = line.capacity == 0u ? std::nullopt : line.capacity;
    }
    const census::WorstCore& worst = device.l1_worst_core;
    lines.push_back({"Total L1", worst.used, worst.capacity, worst_core_of(worst)});
    return lines;
}

void draw_line(const Line& line, int bar, Canvas& canvas, int row, const Area& area) {
    int column = canvas.put(row, area.column + 2, line.title + ":", Look::plain);
    column = area.column + 2 + kTitles;
    if (!line.used) {
        canvas.put(row, column, "not known", Look::dim);
        return;
    }
    const Look look = look_of(tone_of(*line.used, line.capacity));
    canvas.put(row, column, view::format_bar(*line.used, line.capacity, static_cast<size_t>(bar)), look);
    column += bar + 1;
    canvas.put_right(row, column + 10, view::format_bytes(*line.used), Look::title);
    if (line.capacity) {
        canvas.put(row, column + 10, fmt::format(" / {:>9}", view::format_bytes(*line.capacity)));
        canvas.put_right(row, column + kAmounts + 4, view::format_percent(*line.used, line.capacity), look);
    }
    column += kAmounts + 6;
    canvas.put(row, column, line.more, Look::dim, area.column + area.columns - column);
}

}  // namespace

void draw_breakdown(const Model& model, const Ui& ui, Canvas& canvas, const Area& area) {
    const DeviceFigures* device = chosen_device(model, ui);
    if (device == nullptr) {
        return put_note(canvas, area, "There are no devices here yet.");
    }
    canvas.put(area.row, area.column, title_of(*device) + ": Memory Breakdown", Look::title);
    // What stands behind the bars needs room too, where there is some.
    const int left = area.columns - 2 - kTitles - kAmounts - 8;
    const int bar = std::clamp(left - 44, std::min(std::max(left - 16, 6), 16), 60);
    int row = area.row + 1;
    for (const Line& line : lines_of(*device)) {
        if (line.title == "Total L1") {
            ++row;
        }
        if (row < area.end_row()) {
            draw_line(line, bar, canvas, row++, area);
        }
        if (line.title == "Kernels" && row < area.end_row()) {
            canvas.put(row++, area.column + 2 + kTitles, kernels_of(*device), Look::dim,
                       area.columns - kTitles - 2);
        }
    }
}

}  // namespace ttmem::tui
