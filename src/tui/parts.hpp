// SPDX-License-Identifier: Apache-2.0
#pragma once

// What several screens have in common.

#include <optional>
#include <string>

#include "tui/canvas.hpp"
#include "tui/ui.hpp"
#include "view/table.hpp"

namespace ttmem::tui {

// A part of the picture.
struct Area {
    int row = 0;
    int column = 0;
    int rows = 0;
    int columns = 0;

    int end_row() const { return row + rows; }
    Area below(int count) const {  // without the first so many rows
        const int taken = count < rows ? count : rows;
        return {row + taken, column, rows - taken, columns};
    }
};

view::Style style_for(const Canvas& canvas, const Area& area);

// Full is bad and nearly full is worth a look, as in 'ttmem status'.
view::Tone tone_of(uint64_t part, std::optional<uint64_t> whole);
Look look_of(view::Tone tone);

// "[####....]  45%".
view::Cell gauge(uint64_t part, std::optional<uint64_t> whole, size_t bar_width);

// Puts the lines of a text from one of them on; returns how many there are in all.
int put_text(Canvas& canvas, const Area& area, const std::string& text, size_t from = 0);

// A table's text with its first line kept in place while the others are scrolled, and one of them chosen.
void put_table(Canvas& canvas, const Area& area, const std::string& text, size_t scroll,
               std::optional<size_t> chosen = std::nullopt);

// How far to scroll so that a line is seen.
size_t scroll_to(size_t chosen, size_t rows, size_t count);

// One line in the middle, where there is nothing to show.
void put_note(Canvas& canvas, const Area& area, const std::string& text);

// "Device 3 (n300, wormhole_b0)".
std::string title_of(const census::DeviceFigures& device);

// Eight steps from the lowest to the highest of the values.
std::string sparkline(const Track& track, uint64_t from_ns, uint64_t to_ns, size_t width);

}  // namespace ttmem::tui
