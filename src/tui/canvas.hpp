// SPDX-License-Identifier: Apache-2.0
#pragma once

// A picture of the terminal: a grid of cells with a character and a style each. It is pure, so that tests can compare whole
// screens; tui/terminal.hpp decides the colour of each style.

#include <cassert>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "view/text/spans.hpp"

namespace ttmem::tui {

enum class CellStyle : uint8_t { plain, title, dim, good, warn, bad, bar, key, selected, stale, accent };
constexpr size_t kCellStyles = 11;

CellStyle style_of(view::Tone tone);

// The characters that a terminal can show.
enum class Glyphs : uint8_t { utf8, ascii };

struct Size {
    int rows = 24;
    int columns = 80;

    bool operator==(const Size&) const = default;
};

struct ScreenCell {
    // 0: the right half of a wide character.
    char32_t character = U' ';
    CellStyle style = CellStyle::plain;

    bool operator==(const ScreenCell&) const = default;
};

// What a click on a cell means: a screen, a device, a row of the visible list, or a moment of a recording.
struct CanvasHit {
    enum class What : uint8_t { screen, device, row, moment };

    What what = What::row;
    uint32_t number = 0;  // of a moment its share of the recording, in parts of kWholeRecording

    bool operator==(const CanvasHit&) const = default;
};

constexpr uint32_t kWholeRecording = 100'000;

class Canvas {
public:
    explicit Canvas(Size size, Glyphs glyphs = Glyphs::utf8);

    Size size() const { return size_; }
    int rows() const { return size_.rows; }
    int columns() const { return size_.columns; }
    Glyphs glyphs() const { return glyphs_; }

    // These write text in at most `room` columns and return the column behind it. Text outside the picture is cut off.
    int put(int row, int column, std::string_view text, CellStyle style = CellStyle::plain,
            int room = kNoLimit);
    int put_line(int row, int column, const view::Line& line, int room = kNoLimit);

    // Writes text that ends before `end_column` and returns its first column.
    int put_right(int row, int end_column, std::string_view text, CellStyle style = CellStyle::plain);

    // Writes one character `count` times.
    void fill(int row, int column, int count, char32_t character, CellStyle style = CellStyle::plain);

    // These change the style and keep the characters.
    void paint(int row, int column, int count, CellStyle style);
    void paint_all(CellStyle from, CellStyle to);

    // A frame with a title in its upper line.
    void box(int row, int column, Size size, std::string_view title, CellStyle style = CellStyle::dim);

    // Makes cells clickable.
    void add_hit(int row, int column, int count, CanvasHit hit) {
        hits_.push_back({row, column, count, hit});
    }
    std::optional<CanvasHit> hit_at(int row, int column) const;

    // The names of the columns for which tables had no room.
    std::vector<std::string>& left_out() { return left_out_; }

    const ScreenCell& at(int row, int column) const { return cells_[index(row, column)]; }

    // A row as UTF-8, without spaces at its end.
    std::string line(int row) const;
    // The styles of a row, one letter per cell ('.' is plain), without plain cells at its end.
    std::string styles(int row) const;

    bool operator==(const Canvas&) const = default;

private:
    static constexpr int kNoLimit = 1 << 20;

    bool has(int row, int column) const {
        return row >= 0 && row < size_.rows && column >= 0 && column < size_.columns;
    }
    size_t index(int row, int column) const {
        assert(has(row, column));
        return static_cast<size_t>(row) * static_cast<size_t>(size_.columns) + static_cast<size_t>(column);
    }
    void set(int row, int column, char32_t character, CellStyle style);
    int put_shape(int row, int column, std::string_view text, CellStyle style, view::Shape shape,
                  int end_column);

    struct HitArea {
        int row;
        int column;
        int count;
        CanvasHit hit;

        bool operator==(const HitArea&) const = default;
    };

    Size size_;
    Glyphs glyphs_;
    std::vector<ScreenCell> cells_;
    std::vector<HitArea> hits_;
    std::vector<std::string> left_out_;
};

// As UTF-8.
std::string encode(char32_t character);

}  // namespace ttmem::tui
