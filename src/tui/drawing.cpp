// SPDX-License-Identifier: Apache-2.0
#include "tui/drawing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>

#include "view/text/format.hpp"

namespace ttmem::tui {

view::Style style_for(Canvas& canvas, const Area& area) {
    view::Style style;
    style.width = static_cast<size_t>(std::max(area.columns, 1));
    style.utf8 = canvas.glyphs() == Glyphs::utf8;
    style.names_left_out = false;  // the frame names them
    style.left_out = &canvas.left_out();
    return style;
}

void put_text(Canvas& canvas, const Area& area, const view::Text& text, size_t first) {
    for (int i = 0; i < area.rows && first + static_cast<size_t>(i) < text.size(); ++i) {
        canvas.put_line(area.row + i, area.column, text.lines()[first + static_cast<size_t>(i)],
                        area.columns);
    }
}

void put_scrolled(Canvas& canvas, const Area& area, const view::Text& text, size_t scroll) {
    const auto rows = static_cast<size_t>(std::max(area.rows, 0));
    put_text(canvas, area, text, std::min(scroll, text.size() - std::min(text.size(), rows)));
}

void put_table(Canvas& canvas, const Area& area, const view::Text& table, size_t scroll,
               std::optional<size_t> selected) {
    if (table.empty() || area.rows < 1) {
        return;
    }
    canvas.put_line(area.row, area.column, table.lines().front(), area.columns);
    canvas.paint(area.row, area.column, area.columns, CellStyle::title);
    put_text(canvas, area.below(1), table, scroll + 1);
    if (selected && *selected >= scroll && *selected - scroll + 1 < static_cast<size_t>(area.rows)) {
        canvas.paint(area.row + 1 + static_cast<int>(*selected - scroll), area.column, area.columns,
                     CellStyle::selected);
    }
}

void put_list(Canvas& canvas, const Area& area, const view::Text& table, size_t count,
              std::optional<size_t> selected) {
    const auto rows = static_cast<size_t>(std::max(area.rows - 1, 0));
    const size_t first = scroll_to(std::min(selected.value_or(0), count), rows, count);
    put_table(canvas, area, table, first, selected);
    for (size_t i = 0; i < rows && first + i < count; ++i) {
        canvas.add_hit(area.row + 1 + static_cast<int>(i), area.column, area.columns,
                       {CanvasHit::What::row, static_cast<uint32_t>(first + i)});
    }
}

size_t scroll_to(size_t selected, size_t visible_rows, size_t count) {
    if (visible_rows == 0 || count <= visible_rows) {
        return 0;
    }
    const size_t half = visible_rows / 2;
    const size_t first = std::min(selected > half ? selected - half : 0, count - visible_rows);
    assert(first <= selected && (selected >= count || selected - first < visible_rows));
    return first;
}

void put_note(Canvas& canvas, const Area& area, const view::Text& text) {
    int row = area.row + std::max((area.rows - static_cast<int>(text.size())) / 3, 0);
    for (const view::Line& line : text.lines()) {
        if (row >= area.end_row()) {
            return;
        }
        const int margin = std::max((area.columns - static_cast<int>(line.width())) / 2, 0);
        canvas.put(row++, area.column + margin, line.plain(), CellStyle::dim, area.columns);
    }
}

void put_note(Canvas& canvas, const Area& area, std::string_view text) {
    put_note(canvas, area, view::Text(text));
}

std::string title_of(const census::DeviceFigures& device) {
    std::string about;
    for (const auto& word : {device.board, device.arch}) {
        about += word ? (about.empty() ? "" : ", ") + *word : "";
    }
    return fmt::format("Device {}{}", device.id, about.empty() ? "" : " (" + about + ")");
}

char32_t heat_character(double share) {
    constexpr std::array<char32_t, 4> kHeat = {U'░', U'▒', U'▓', U'█'};
    return kHeat[std::min(static_cast<size_t>(std::max(share, 0.0) * 4), size_t{3})];
}

std::string sparkline(const Track& track, uint64_t from_ns, uint64_t to_ns, size_t width) {
    constexpr std::array<const char*, 8> kSteps = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    const auto columns = track.columns(from_ns, to_ns, width);
    std::optional<double> lowest;
    std::optional<double> highest;
    for (const auto& value : columns) {
        if (value) {
            lowest = std::min(lowest.value_or(*value), *value);
            highest = std::max(highest.value_or(*value), *value);
        }
    }
    std::string text;
    for (const auto& value : columns) {
        if (!value) {
            text += " ";
            continue;
        }
        const double span = *highest - *lowest;
        const double share = span <= 0 ? 0 : (*value - *lowest) / span;
        text += kSteps[std::min(static_cast<size_t>(share * 8), size_t{7})];
    }
    return text;
}

}  // namespace ttmem::tui
