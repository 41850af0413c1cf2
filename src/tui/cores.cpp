// SPDX-License-Identifier: Apache-2.0

// The grid of cores as a heat map: the fuller L1 of a core is, the denser its letters.

#include <fmt/format.h>

#include <algorithm>

#include "tui/screens.hpp"
#include "view/format.hpp"

namespace ttmem::tui {

namespace {

using census::CoreFigures;

constexpr int kRowNumbers = 4;
constexpr int kNumber = 4;  // " 53%"

char32_t heat_of(double share) {
    constexpr std::array<char32_t, 4> kHeat = {U'░', U'▒', U'▓', U'█'};
    return kHeat[std::min(static_cast<size_t>(share * 4), size_t{3})];
}

void draw_core(const CoreFigures& figures, uint64_t capacity, bool is_worst, int blocks, int row, int column,
               Canvas& canvas) {
    const uint64_t used = figures.used.value_or(0);
    const bool has_buffers = figures.cb_top.has_value();
    const Look look = has_buffers ? look_of(tone_of(used, capacity)) : Look::dim;
    canvas.fill(row, column, blocks, heat_of(static_cast<double>(used) / static_cast<double>(capacity)),
                look);
    canvas.put(row, column + blocks, fmt::format("{:>{}}", view::format_percent(used, capacity), kNumber),
               is_worst ? Look::selected : look);
}

}  // namespace

void draw_cores(const Model& model, const census::DeviceFigures& device, Canvas& canvas, const Area& area) {
    const auto* view = model.answer<view::CoreView>();
    if (view == nullptr || view->device != std::to_string(device.id) || view->grid.cores.empty() ||
        view->grid.capacity.value_or(0) == 0 || area.rows < 3) {
        return;
    }
    const census::CoreGrid& grid = view->grid;
    int across = 1;
    for (const CoreFigures& figures : grid.cores) {
        across = std::max(across, static_cast<int>(figures.core.x) + 1);
    }
    const int room = (area.columns - kRowNumbers) / across;
    const int blocks = std::clamp(room - kNumber - 1, 0, 3);
    const int width = blocks + kNumber + 1;
    const census::WorstCore& worst = device.l1_worst_core;
    std::string title = "L1 of each core";
    if (worst.core && worst.headroom) {
        title += fmt::format(": worst {},{} with a headroom of {}", worst.core->x, worst.core->y,
                             view::format_signed_bytes(*worst.headroom));
    }
    if (grid.without_cores != 0) {
        title += fmt::format(" ({} on unknown cores)",
                             view::format_count(grid.without_cores, "circular buffer", "circular buffers"));
    }
    canvas.put(area.row, area.column + 2, title, Look::title, area.columns - 2);
    for (int x = 0; x < across; ++x) {
        canvas.put_right(area.row + 1, area.column + kRowNumbers + x * width + width - 2, std::to_string(x),
                         Look::dim);
    }
    for (const CoreFigures& figures : grid.cores) {
        const int row = area.row + 2 + static_cast<int>(figures.core.y);
        if (row >= area.end_row()) {
            continue;
        }
        canvas.put_right(row, area.column + kRowNumbers - 1, std::to_string(figures.core.y), Look::dim);
        draw_core(figures, *grid.capacity, figures.core == worst.core, blocks, row,
                  area.column + kRowNumbers + static_cast<int>(figures.core.x) * width, canvas);
    }
}

}  // namespace ttmem::tui
