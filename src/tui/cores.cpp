// SPDX-License-Identifier: Apache-2.0

// The grid of cores as a heat map: the fuller the L1 of a core, the denser its characters.

#include <fmt/format.h>

#include <algorithm>

#include "tui/screens.hpp"
#include "view/text/cells.hpp"
#include "view/text/format.hpp"

namespace ttmem::tui {

namespace {

using census::CoreFigures;

constexpr int kRowNumberWidth = 4;
constexpr int kPercentWidth = 4;  // " 53%"

void draw_core(const CoreFigures& figures, uint64_t capacity, bool is_fullest, int blocks, int row,
               int column, Canvas& canvas) {
    const uint64_t used = figures.used.value_or(0);
    const bool has_buffers = figures.cb_top.has_value();
    const CellStyle style = has_buffers ? style_of(view::tone_of(used, capacity)) : CellStyle::dim;
    canvas.fill(row, column, blocks,
                heat_character(static_cast<double>(used) / static_cast<double>(capacity)), style);
    canvas.put(row, column + blocks,
               fmt::format("{:>{}}", view::format_percent(used, capacity), kPercentWidth),
               is_fullest ? CellStyle::selected : style);
}

}  // namespace

void draw_cores(const Model& model, const census::DeviceFigures& device, Canvas& canvas, const Area& area) {
    const auto* view = model.answer<view::CoreView>();
    if (view == nullptr || view->device != device.id || view->grid.cores.empty() ||
        view->grid.capacity.value_or(0) == 0 || area.rows < 3) {
        return;
    }
    const census::CoreGrid& grid = view->grid;
    int across = 1;
    for (const CoreFigures& figures : grid.cores) {
        across = std::max(across, static_cast<int>(figures.core.x) + 1);
    }
    const int room = (area.columns - kRowNumberWidth) / across;
    const int blocks = std::clamp(room - kPercentWidth - 1, 0, 3);
    const int width = blocks + kPercentWidth + 1;
    const census::WorstCore& worst = device.l1_worst_core;
    std::string title = "L1 per core";
    if (worst.core && worst.headroom) {
        title += fmt::format(": fullest {},{}, headroom {}", worst.core->x, worst.core->y,
                             view::format_signed_bytes(*worst.headroom));
    }
    if (grid.without_cores != 0) {
        title += fmt::format(" ({} on unknown cores)",
                             view::format_count(grid.without_cores, "circular buffer", "circular buffers"));
    }
    canvas.put(area.row, area.column + 2, title, CellStyle::title, area.columns - 2);
    for (int x = 0; x < across; ++x) {
        canvas.put_right(area.row + 1, area.column + kRowNumberWidth + x * width + width - 2,
                         std::to_string(x), CellStyle::dim);
    }
    for (const CoreFigures& figures : grid.cores) {
        const int row = area.row + 2 + static_cast<int>(figures.core.y);
        if (row >= area.end_row()) {
            continue;
        }
        canvas.put_right(row, area.column + kRowNumberWidth - 1, std::to_string(figures.core.y),
                         CellStyle::dim);
        draw_core(figures, *grid.capacity, figures.core == worst.core, blocks, row,
                  area.column + kRowNumberWidth + static_cast<int>(figures.core.x) * width, canvas);
    }
}

}  // namespace ttmem::tui
