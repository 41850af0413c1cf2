// SPDX-License-Identifier: Apache-2.0
#pragma once

// What several screens draw.

#include <optional>
#include <string>
#include <string_view>

#include "tui/canvas.hpp"
#include "tui/ui.hpp"
#include "view/text/spans.hpp"
#include "view/text/table.hpp"

namespace ttmem::tui {

// A rectangle of the canvas.
struct Area {
    int row = 0;
    int column = 0;
    int rows = 0;
    int columns = 0;

    int end_row() const { return row + rows; }
    // Without the first `count` rows.
    Area below(int count) const {
        const int removed = count < rows ? count : rows;
        return {row + removed, column, rows - removed, columns};
    }
};

view::Style style_for(Canvas& canvas, const Area& area);

// Draws the lines of a text from line `first` on.
void put_text(Canvas& canvas, const Area& area, const view::Text& text, size_t first = 0);

// The same, scrolled by at most so much that the last line is at the bottom.
void put_scrolled(Canvas& canvas, const Area& area, const view::Text& text, size_t scroll);

// Draws a table: its titles stay at the top, its rows are scrolled, and row `selected` is highlighted.
void put_table(Canvas& canvas, const Area& area, const view::Text& table, size_t scroll,
               std::optional<size_t> selected = std::nullopt);

// The same for a list of `count` rows: scrolled so that the selected row is visible.
void put_list(Canvas& canvas, const Area& area, const view::Text& table, size_t count,
              std::optional<size_t> selected);

// The first row to show so that the selected one is visible.
size_t scroll_to(size_t selected, size_t visible_rows, size_t count);

// Draws centred lines where there is nothing else to show.
void put_note(Canvas& canvas, const Area& area, const view::Text& text);
void put_note(Canvas& canvas, const Area& area, std::string_view text);

// "Device 3 (n300, wormhole_b0)".
std::string title_of(const census::DeviceFigures& device);

// The denser, the higher the share: of cells in a heat map.
char32_t heat_character(double share);

// A chart of one row: eight steps from the lowest to the highest value.
std::string sparkline(const Track& track, uint64_t from_ns, uint64_t to_ns, size_t width);

}  // namespace ttmem::tui
