// SPDX-License-Identifier: Apache-2.0

// Memory in use on one device, by kind.

#include <fmt/format.h>

#include <algorithm>

#include "tui/screens.hpp"
#include "view/text/cells.hpp"
#include "view/text/format.hpp"

namespace ttmem::tui {

namespace {

using census::DeviceFigures;
using census::Kind;
using census::MemoryFigures;

constexpr int kTitleWidth = 14;
constexpr int kAmountWidth = 24;  // "  5.4 GiB /   12.0 GiB "

// One kind of memory: a line with a bar, and details on a line below.
struct KindRow {
    std::string title;
    std::optional<uint64_t> used;
    std::optional<uint64_t> capacity;
    std::string peak;
    std::string details;
};

KindRow row_of(const std::string& title, const MemoryFigures& memory) {
    KindRow row{title, {}, memory.capacity, {}, {}};
    if (memory.is_known) {
        row.used = memory.used;
        row.peak = fmt::format("peak {}{}", memory.peak_exact ? "" : ">=", view::format_bytes(memory.peak));
    }
    // A region that is not set up reports 0 bytes. That is no capacity to compare with.
    if (memory.capacity == 0u) {
        row.capacity.reset();
    }
    return row;
}

std::string details_of(const MemoryFigures& memory) {
    if (!memory.is_known || !memory.is_count_known) {
        return "";
    }
    std::string text = view::format_count(memory.count, "allocation", "allocations");
    if (memory.used != memory.requested) {
        text += fmt::format(", requested {}", view::format_bytes(memory.requested));
    }
    return memory.largest_free ? text + fmt::format(", largest free block {} per bank",
                                                    view::format_bytes(*memory.largest_free))
                               : text;
}

std::string kernels_by_type(const DeviceFigures& device) {
    std::string text;
    for (size_t i = 0; i < device.kernel_by_type.size(); ++i) {
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", census::kKernelTypes[i],
                            view::format_bytes(device.kernel_by_type[i]));
    }
    return text;
}

std::string fullest_core_text(const census::WorstCore& worst) {
    std::string text =
        worst.core ? fmt::format("fullest core {},{}", worst.core->x, worst.core->y) : "fullest core";
    if (worst.cb_top) {
        text += fmt::format(", circular buffers end at {:#x}", *worst.cb_top);
    }
    return worst.lowest_buffer ? text + fmt::format(", lowest L1 buffer at {:#x}", *worst.lowest_buffer)
                               : text;
}

std::vector<KindRow> rows_of(const DeviceFigures& device) {
    struct Title {
        Kind kind;
        const char* text;
    };
    std::vector<KindRow> rows;
    for (const Title& title :
         {Title{Kind::dram, "DRAM"}, Title{Kind::l1, "L1 Buffers"}, Title{Kind::cb, "CBs"},
          Title{Kind::kernel, "Kernels"}, Title{Kind::l1_small, "L1_SMALL"}, Title{Kind::trace, "Trace"}}) {
        const MemoryFigures& memory = device.memory[index_of(title.kind)];
        rows.push_back(row_of(title.text, memory));
        // Circular buffers and kernels lie in L1 and have no region of their own.
        if (title.kind == Kind::cb || title.kind == Kind::kernel) {
            rows.back().capacity = device.memory[index_of(Kind::l1)].capacity;
        }
        rows.back().details =
            title.kind == Kind::kernel && memory.is_known ? kernels_by_type(device) : details_of(memory);
    }
    const census::WorstCore& worst = device.l1_worst_core;
    rows.push_back(
        {"Total L1", worst.used, worst.capacity,
         worst.headroom ? fmt::format("headroom {}", view::format_signed_bytes(*worst.headroom)) : "",
         fullest_core_text(worst)});
    return rows;
}

void draw_row(const KindRow& kind, int bar_width, Canvas& canvas, int row, const Area& area) {
    canvas.put(row, area.column + 2, kind.title + ":");
    int column = area.column + 2 + kTitleWidth;
    if (!kind.used) {
        canvas.put(row, column, "unknown", CellStyle::dim);
        return;
    }
    const view::Span bar = view::bar(*kind.used, kind.capacity, static_cast<size_t>(bar_width));
    canvas.put_line(row, column, bar);
    column += bar_width + 1;
    canvas.put_right(row, column + 10, view::format_bytes(*kind.used), CellStyle::title);
    if (kind.capacity) {
        canvas.put(row, column + 10, fmt::format(" / {:>9}", view::format_bytes(*kind.capacity)));
        canvas.put_right(row, column + kAmountWidth + 4, view::format_percent(*kind.used, kind.capacity),
                         style_of(bar.tone));
    }
    column += kAmountWidth + 6;
    canvas.put(row, column, kind.peak, CellStyle::plain, area.column + area.columns - column);
}

// Returns the number of rows that it took.
int draw_section(const DeviceFigures& device, bool has_details, Canvas& canvas, const Area& area) {
    canvas.put(area.row, area.column, title_of(device) + ": Memory Breakdown", CellStyle::title,
               area.columns);
    const int bar_width = std::clamp(area.columns - 2 - kTitleWidth - kAmountWidth - 8 - 18, 6, 60);
    int row = area.row + 1;
    for (const KindRow& kind : rows_of(device)) {
        if (row < area.end_row()) {
            draw_row(kind, bar_width, canvas, row++, area);
        }
        // The types of kernels are shown at every size.
        if ((has_details || kind.title == "Kernels") && !kind.details.empty() && row < area.end_row()) {
            canvas.put(row++, area.column + 2 + kTitleWidth, kind.details, CellStyle::dim,
                       area.columns - kTitleWidth - 2);
        }
    }
    return row - area.row;
}

// The sections of all devices, as many as fit, from the chosen one on.
void draw_sections(const std::vector<DeviceFigures>& devices, size_t first, Canvas& canvas,
                   const Area& area) {
    constexpr int kRows = 10;  // with a blank line
    constexpr int kLeastColumns = 90;
    const int across = std::max(area.columns / kLeastColumns, 1);
    const int down = std::max(area.rows / kRows, 1);  // the last one has no blank line
    const auto count = static_cast<int>(devices.size());
    const int shown = std::min(across * down, count);
    canvas.put(area.row, area.column,
               shown == count ? fmt::format("All {} devices", count)
                              : fmt::format("{} of {} devices, from device {} on; d moves on", shown, count,
                                            devices[first].id),
               shown == count ? CellStyle::dim : CellStyle::warn, area.columns);
    const int width = area.columns / across;
    for (int i = 0; i < shown; ++i) {
        const int row = area.row + 1 + i / across * kRows;
        draw_section(
            devices[(first + static_cast<size_t>(i)) % devices.size()], false, canvas,
            {row, area.column + i % across * width, std::min(kRows - 1, area.end_row() - row), width});
    }
}

}  // namespace

void draw_breakdown(const Model& model, const Ui& ui, Canvas& canvas, const Area& area) {
    const DeviceFigures* device = chosen_device(model, ui);
    if (device == nullptr) {
        return put_note(canvas, area, kNoDevices);
    }
    if (ui.all_sections) {
        const auto& devices = model.status()->figures.devices;
        return draw_sections(devices, static_cast<size_t>(device - devices.data()), canvas, area);
    }
    // The grid of cores has precedence over the details.
    constexpr int kRowsOfCores = 13;
    constexpr int kRowsWithDetails = 14;
    const int rows = draw_section(*device, area.rows > kRowsWithDetails + kRowsOfCores, canvas, area);
    draw_cores(model, *device, canvas, area.below(rows));
}

}  // namespace ttmem::tui
