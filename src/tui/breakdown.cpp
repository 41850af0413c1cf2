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

// One kind: a line with a bar, and what else is known of it on a line below.
struct Line {
    std::string title;
    std::optional<uint64_t> used;
    std::optional<uint64_t> capacity;
    std::string peak;
    std::string more;
};

Line line_of(const std::string& title, const MemoryFigures& memory) {
    Line line{title, {}, memory.capacity, {}, {}};
    if (memory.is_known) {
        line.used = memory.used;
        line.peak = fmt::format("peak {}{}", memory.peak_exact ? "" : ">=", view::format_bytes(memory.peak));
    }
    // A region that nobody has set up has no room, and that is not a whole of 0 bytes.
    if (memory.capacity == 0u) {
        line.capacity.reset();
    }
    return line;
}

std::string details_of(const MemoryFigures& memory) {
    if (!memory.is_known || !memory.is_count_known) {
        return "";
    }
    std::string text = view::format_count(memory.count, "allocation", "allocations");
    if (memory.used != memory.requested) {
        text += fmt::format(", requested {}", view::format_bytes(memory.requested));
    }
    return memory.largest_free ? text + fmt::format(", largest free block {} a bank",
                                                    view::format_bytes(*memory.largest_free))
                               : text;
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
    if (worst.cb_top) {
        text += fmt::format(", circular buffers end at {:#x}", *worst.cb_top);
    }
    return worst.lowest_buffer ? text + fmt::format(", lowest L1 buffer at {:#x}", *worst.lowest_buffer)
                               : text;
}

std::vector<Line> lines_of(const DeviceFigures& device) {
    struct Title {
        Kind kind;
        const char* text;
    };
    std::vector<Line> lines;
    for (const Title& title :
         {Title{Kind::dram, "DRAM"}, Title{Kind::l1, "L1 Buffers"}, Title{Kind::cb, "CBs"},
          Title{Kind::kernel, "Kernels"}, Title{Kind::l1_small, "L1_SMALL"}, Title{Kind::trace, "Trace"}}) {
        const MemoryFigures& memory = device.memory[index_of(title.kind)];
        lines.push_back(line_of(title.text, memory));
        lines.back().more =
            title.kind == Kind::kernel && memory.is_known ? kernels_of(device) : details_of(memory);
    }
    const census::WorstCore& worst = device.l1_worst_core;
    lines.push_back(
        {"Total L1", worst.used, worst.capacity,
         worst.headroom ? fmt::format("headroom {}", view::format_signed_bytes(*worst.headroom)) : "",
         worst_core_of(worst)});
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
    canvas.put(row, column, line.peak, Look::plain, area.column + area.columns - column);
}

}  // namespace

void draw_breakdown(const Model& model, const Ui& ui, Canvas& canvas, const Area& area) {
    const DeviceFigures* device = chosen_device(model, ui);
    if (device == nullptr) {
        return put_note(canvas, area, "There are no devices here yet.");
    }
    canvas.put(area.row, area.column, title_of(*device) + ": Memory Breakdown", Look::title);
    const int bar = std::clamp(area.columns - 2 - kTitles - kAmounts - 8 - 18, 6, 60);
    const std::vector<Line> lines = lines_of(*device);
    // The cores come before the details.
    constexpr int kForCores = 13;
    const bool with_details = area.rows > 2 * static_cast<int>(lines.size()) + kForCores;
    int row = area.row + 1;
    for (const Line& line : lines) {
        if (row < area.end_row()) {
            draw_line(line, bar, canvas, row++, area);
        }
        const bool is_kernels = line.title == "Kernels";  // their types are asked for at every size
        if ((with_details || is_kernels) && !line.more.empty() && row < area.end_row()) {
            canvas.put(row++, area.column + 2 + kTitles, line.more, Look::dim, area.columns - kTitles - 2);
        }
    }
    draw_cores(model, *device, canvas, area.below(row - area.row));
}

}  // namespace ttmem::tui
