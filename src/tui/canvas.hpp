// SPDX-License-Identifier: Apache-2.0
#pragma once

// A picture of a screen: a grid of cells, each with a letter and what it means. Pure, so that a test can hold every screen;
// which colour a meaning has is the terminal's affair (tui/terminal.hpp).

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ttmem::tui {

// What a letter means.
enum class Look : uint8_t { plain, title, dim, good, warn, bad, bar, key, selected, stale };
constexpr size_t kLooks = 10;

// What a terminal can show: letters beyond ASCII or not.
enum class Glyphs : uint8_t { utf8, ascii };

struct Size {
    int rows = 24;
    int columns = 80;

    bool operator==(const Size&) const = default;
};

struct Cell {
    char32_t letter = U' ';  // 0: the right half of a wide one
    Look look = Look::plain;

    bool operator==(const Cell&) const = default;
};

class Canvas {
public:
    explicit Canvas(Size size, Glyphs glyphs = Glyphs::utf8);

    Size size() const { return size_; }
    int rows() const { return size_.rows; }
    int columns() const { return size_.columns; }
    Glyphs glyphs() const { return glyphs_; }

    // Writes a text, in `room` columns at most, and returns the column behind it. What is outside the picture is cut off. The
    // colours that view/table.hpp gives to texts become looks, and its bars become blocks.
    int put(int row, int column, std::string_view text, Look look = Look::plain, int room = 1 << 20);
    int put_right(int row, int column_behind, std::string_view text, Look look = Look::plain);

    // One letter, so often.
    void fill(int row, int column, int count, char32_t letter, Look look = Look::plain);

    // Gives another look to what is there.
    void paint(int row, int column, int count, Look look);
    void paint_all(Look from, Look to);

    // A box of lines with a title in the upper one.
    void box(int row, int column, Size size, std::string_view title, Look look = Look::dim);

    const Cell& at(int row, int column) const { return cells_[index(row, column)]; }

    // A line as UTF-8, without blanks at its end; and what its letters mean, a letter each ('.' is plain).
    std::string line(int row) const;
    std::string looks(int row) const;

    bool operator==(const Canvas&) const = default;

private:
    bool has(int row, int column) const {
        return row >= 0 && row < size_.rows && column >= 0 && column < size_.columns;
    }
    size_t index(int row, int column) const {
        return static_cast<size_t>(row) * static_cast<size_t>(size_.columns) + static_cast<size_t>(column);
    }
    void set(int row, int column, char32_t letter, Look look);

    Size size_;
    Glyphs glyphs_;
    std::vector<Cell> cells_;
};

// As UTF-8.
std::string encode(char32_t letter);

// A text in lines, without their ends.
std::vector<std::string> split_lines(std::string_view text);

}  // namespace ttmem::tui
