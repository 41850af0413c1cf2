// SPDX-License-Identifier: Apache-2.0
#include "tui/canvas.hpp"

#include <algorithm>
#include <cassert>

#include "base/utf8.hpp"
#include "view/text/format.hpp"

namespace ttmem::tui {

namespace {

constexpr char32_t kFirstBraille = 0x2800;
constexpr char32_t kLastBraille = 0x28ff;

// A dot pattern becomes a character with ink at the same height: above, below or both.
char32_t ascii_of_braille(char32_t character) {
    constexpr char32_t kAbove = 0x1b;  // dots in the upper two of the four rows
    constexpr char32_t kBelow = 0xe4;
    const char32_t dots = character - kFirstBraille;
    if (dots == 0) {
        return U' ';
    }
    return (dots & kAbove) == 0 ? U'.' : (dots & kBelow) == 0 ? U'\'' : U':';
}

char32_t ascii_of(char32_t character) {
    struct Pair {
        char32_t from, to;
    };
    constexpr Pair kPairs[] = {
        {U'█', U'#'}, {U'▓', U'#'}, {U'▒', U'+'}, {U'░', U'.'}, {U'─', U'-'}, {U'│', U'|'}, {U'┌', U'+'},
        {U'┐', U'+'}, {U'└', U'+'}, {U'┘', U'+'}, {U'├', U'+'}, {U'┤', U'+'}, {U'┬', U'+'}, {U'┴', U'+'},
        {U'▲', U'^'}, {U'▼', U'v'}, {U'✗', U'x'}, {U'≈', U'~'}, {U'▶', U'>'}, {U'●', U'*'}, {U'·', U'.'},
        {U'▁', U'_'}, {U'▂', U'.'}, {U'▃', U':'}, {U'▄', U'-'}, {U'▅', U'='}, {U'▆', U'+'}, {U'▇', U'*'},
        {U'▏', U'-'}, {U'°', U' '}, {U'≥', U'>'}, {U'┃', U'|'}, {U'◆', U'*'}};
    if (character < 0x80) {
        return character;
    }
    if (character >= kFirstBraille && character <= kLastBraille) {
        return ascii_of_braille(character);
    }
    const auto* const found = std::find_if(std::begin(kPairs), std::end(kPairs),
                                           [&](const Pair& pair) { return pair.from == character; });
    return found == std::end(kPairs) ? U'?' : found->to;
}

// Bars are drawn with block characters.
char32_t bar_character(char32_t character) {
    return character == U'#' ? U'█' : character == U'-' ? U'▏' : character == U'.' ? U'░' : character;
}

}  // namespace

std::string encode(char32_t character) {
    std::string text;
    base::append_utf8(text, character);
    return text;
}

CellStyle style_of(view::Tone tone) {
    switch (tone) {
        case view::Tone::plain:
            return CellStyle::plain;
        case view::Tone::title:
            return CellStyle::title;
        case view::Tone::good:
            return CellStyle::good;
        case view::Tone::warn:
            return CellStyle::warn;
        case view::Tone::bad:
            return CellStyle::bad;
    }
    return CellStyle::plain;
}

Canvas::Canvas(Size size, Glyphs glyphs)
    : size_{std::max(size.rows, 1), std::max(size.columns, 1)}, glyphs_(glyphs) {
    cells_.resize(static_cast<size_t>(size_.rows) * static_cast<size_t>(size_.columns));
}

void Canvas::set(int row, int column, char32_t character, CellStyle style) {
    if (!has(row, column)) {
        return;
    }
    // A wide character of which one half is overwritten loses the other half too.
    ScreenCell& cell = cells_[index(row, column)];
    if (cell.character == 0 && column > 0) {
        cells_[index(row, column - 1)].character = U' ';
    }
    if (has(row, column + 1) && cells_[index(row, column + 1)].character == 0) {
        cells_[index(row, column + 1)].character = U' ';
    }
    cell = {character, style};
}

int Canvas::put(int row, int column, std::string_view text, CellStyle style, int room) {
    return put_shape(row, column, text, style, view::Shape::letters, column + std::max(room, 0));
}

int Canvas::put_line(int row, int column, const view::Line& line, int room) {
    const int end_column = column + std::max(room, 0);
    for (const view::Span& span : line.spans()) {
        column = put_shape(row, column, span.text, style_of(span.tone), span.shape, end_column);
    }
    return column;
}

int Canvas::put_shape(int row, int column, std::string_view text, CellStyle style, view::Shape shape,
                      int end_column) {
    const int end = std::min(size_.columns, end_column);
    while (!text.empty() && column < end) {
        base::Utf8Character next = base::decode_utf8(text);
        const size_t width = view::display_width(text.substr(0, next.bytes));
        text.remove_prefix(next.bytes);
        assert(width <= 2);
        // A control character must not move the cursor.
        if (next.code < 0x20 || next.code == 0x7f) {
            next.code = U'?';
        }
        // Combining marks are dropped.
        if (width == 0 || column + static_cast<int>(width) > end) {
            continue;
        }
        if (shape == view::Shape::bar) {
            next.code = bar_character(next.code);
        }
        const char32_t shown = glyphs_ == Glyphs::utf8 ? next.code : ascii_of(next.code);
        set(row, column, shown, style);
        if (width == 2) {
            set(row, column + 1, glyphs_ == Glyphs::utf8 ? 0 : shown, style);
        }
        column += static_cast<int>(width);
    }
    return column;
}

int Canvas::put_right(int row, int end_column, std::string_view text, CellStyle style) {
    const auto width = static_cast<int>(view::display_width(text));
    const int column = std::max(end_column - width, 0);
    put(row, column, text, style, end_column - column);
    return column;
}

void Canvas::fill(int row, int column, int count, char32_t character, CellStyle style) {
    const char32_t shown = glyphs_ == Glyphs::utf8 ? character : ascii_of(character);
    for (int i = 0; i < count; ++i) {
        set(row, column + i, shown, style);
    }
}

void Canvas::paint(int row, int column, int count, CellStyle style) {
    for (int i = column; i < column + count; ++i) {
        if (has(row, i)) {
            cells_[index(row, i)].style = style;
        }
    }
}

void Canvas::paint_all(CellStyle from, CellStyle to) {
    for (ScreenCell& cell : cells_) {
        cell.style = cell.style == from ? to : cell.style;
    }
}

void Canvas::box(int row, int column, Size size, std::string_view title, CellStyle style) {
    const int right = column + size.columns - 1;
    const int bottom = row + size.rows - 1;
    for (const int y : {row, bottom}) {
        fill(y, column + 1, size.columns - 2, U'─', style);
    }
    for (int y = row + 1; y < bottom; ++y) {
        fill(y, column, 1, U'│', style);
        fill(y, right, 1, U'│', style);
    }
    fill(row, column, 1, U'┌', style);
    fill(row, right, 1, U'┐', style);
    fill(bottom, column, 1, U'└', style);
    fill(bottom, right, 1, U'┘', style);
    if (!title.empty()) {
        const std::string text =
            " " + view::cut_end(title, static_cast<size_t>(std::max(size.columns - 6, 1))) + " ";
        put(row, column + 2, text, CellStyle::title, size.columns - 4);
    }
}

std::optional<CanvasHit> Canvas::hit_at(int row, int column) const {
    // What was drawn last is on top.
    const auto found = std::find_if(hits_.rbegin(), hits_.rend(), [&](const HitArea& area) {
        return area.row == row && column >= area.column && column < area.column + area.count;
    });
    return found == hits_.rend() ? std::nullopt : std::optional(found->hit);
}

std::string Canvas::line(int row) const {
    std::string text;
    for (int column = 0; column < size_.columns; ++column) {
        if (const char32_t character = at(row, column).character; character != 0) {
            text += encode(character);
        }
    }
    text.erase(text.find_last_not_of(' ') + 1);
    return text;
}

std::string Canvas::styles(int row) const {
    constexpr std::string_view kStyleLetters = ".TdgwbBksSa";
    static_assert(kStyleLetters.size() == kCellStyles);
    std::string text;
    for (int column = 0; column < size_.columns; ++column) {
        text += kStyleLetters[static_cast<size_t>(at(row, column).style)];
    }
    text.erase(text.find_last_not_of('.') + 1);
    return text;
}

}  // namespace ttmem::tui
