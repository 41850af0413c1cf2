// SPDX-License-Identifier: Apache-2.0
#pragma once

// A table of text that fits a width: long cells are cut where their column allows it, then the columns that matter least
// are left out.

#include <cstddef>
#include <string>
#include <vector>

namespace ttmem::view {

// How a text is to look. Width and colour are the terminal's; `bytes` asks for plain numbers.
struct Style {
    size_t width = 80;
    bool colour = false;
    bool bytes = false;
    bool cut = true;    // else cells keep their length: for pipes, where somebody searches
    bool utf8 = false;  // letters beyond ASCII may be used for drawing
};

enum class Tone { plain, title, good, warn, bad };

std::string coloured(const std::string& text, Tone tone, const Style& style);

struct Cell {
    // Most cells are a text and nothing more: a row reads best as a list of texts.
    // NOLINTNEXTLINE(google-explicit-constructor)
    Cell(std::string cell_text, Tone cell_tone = Tone::plain) : text(std::move(cell_text)), tone(cell_tone) {}
    Cell(const char* cell_text) : text(cell_text) {}  // NOLINT(google-explicit-constructor)

    std::string text;
    Tone tone = Tone::plain;
};

struct Column {
    std::string title;
    enum class Align { left, right } align = Align::right;
    int rank = 0;            // where there is no room the highest goes first; 0 never goes
    size_t least_width = 0;  // may be cut down to this; 0: may not be cut
    enum class Keep { beginning, end } keep = Keep::beginning;  // of what is cut
    size_t gap = 2;                                             // blanks before it
};

constexpr auto kLeft = Column::Align::left;
constexpr auto kRight = Column::Align::right;

class Table {
public:
    explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

    void add(std::vector<Cell> row) { rows_.push_back(std::move(row)); }

    // With `left_out`, adds to it the titles of the columns that did not fit.
    std::string text(const Style& style, std::vector<std::string>* left_out = nullptr) const;

private:
    std::vector<size_t> natural_widths() const;

    std::vector<Column> columns_;
    std::vector<std::vector<Cell>> rows_;
};

}  // namespace ttmem::view
