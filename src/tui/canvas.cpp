// SPDX-License-Identifier: Apache-2.0
#include "tui/canvas.hpp"

#include <algorithm>

#include "view/format.hpp"

namespace ttmem::tui {

namespace {

constexpr char32_t kFirstBraille = 0x2800;
constexpr char32_t kLastBraille = 0x28ff;

struct Letter {
    char32_t code = U'?';
    size_t bytes = 1;
};

// The first letter of a text; '?' for a byte that begins none.
Letter first_letter(std::string_view text) {
    const auto lead = static_cast<unsigned char>(text[0]);
    const size_t length = lead < 0x80 ? 1 : lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 0;
    if (length == 0 || length > text.size()) {
        return {};
    }
    char32_t code = length == 1 ? lead : lead & (0xffu >> (length + 1));
    for (size_t i = 1; i < length; ++i) {
        code = code << 6 | (static_cast<unsigned char>(text[i]) & 0x3fu);
    }
    return {code, length};
}

// A dot pattern by where its dots are: above, below or both.
char32_t ascii_of_braille(char32_t letter) {
    constexpr char32_t kAbove = 0x1b;  // the upper two of four rows
    constexpr char32_t kBelow = 0xe4;
    const char32_t dots = letter - kFirstBraille;
    if (dots == 0) {
        return U' ';
    }
    return (dots & kAbove) == 0 ? U'.' : (dots & kBelow) == 0 ? U'\'' : U':';
}

char32_t ascii_of(char32_t letter) {
    struct Pair {
        char32_t from, to;
    };
    constexpr Pair kPairs[] = {{U'█', U'#'}, {U'▓', U'#'}, {U'▒', U'+'}, {U'░', U'.'}, {U'─', U'-'},
                               {U'│', U'|'}, {U'┌', U'+'}, {U'┐', U'+'}, {U'└', U'+'}, {U'┘', U'+'},
                               {U'├', U'+'}, {U'┤', U'+'}, {U'┬', U'+'}, {U'┴', U'+'}, {U'▲', U'^'},
                               {U'▼', U'v'}, {U'✗', U'x'}, {U'≈', U'~'}, {U'▶', U'>'}, {U'●', U'*'},
                               {U'·', U'.'}, {U'▁', U'_'}, {U'▂', U'.'}, {U'▃', U':'}, {U'▄', U'-'},
                               {U'▅', U'='}, {U'▆', U'+'}, {U'▇', U'*'}, {U'°', U' '}, {U'≥', U'>'}};
    if (letter < 0x80) {
        return letter;
    }
    if (letter >= kFirstBraille && letter <= kLastBraille) {
        return ascii_of_braille(letter);
    }
    const auto* const found = std::find_if(std::begin(kPairs), std::end(kPairs),
                                           [&](const Pair& pair) { return pair.from == letter; });
    return found == std::end(kPairs) ? U'?' : found->to;
}

// The look that a colour of view::coloured() stands for, and how many bytes it takes; 0: it is none.
size_t read_colour(std::string_view text, Look plain, Look& look) {
    if (!text.starts_with("\x1b[")) {
        return 0;
    }
    const size_t end = text.find('m');
    if (end == std::string_view::npos) {
        return 0;
    }
    const std::string_view code = text.substr(2, end - 2);
    look = code == "1"    ? Look::title
           : code == "32" ? Look::good
           : code == "33" ? Look::warn
           : code == "31" ? Look::bad
                          : plain;
    return end + 1;
}

// How long a bar of view::format_bar() is that begins here; 0: it is none.
size_t bar_length(std::string_view text) {
    const size_t filled = std::min(text.find_first_not_of('#', 1), text.size());
    const size_t empty = std::min(text.find_first_not_of('.', filled), text.size());
    return text[0] == '[' && empty > 2 && empty < text.size() && text[empty] == ']' ? empty + 1 : 0;
}

}  // namespace

std::string encode(char32_t letter) {
    std::string text;
    const auto add = [&](char32_t byte) { text += static_cast<char>(static_cast<unsigned char>(byte)); };
    if (letter < 0x80) {
        add(letter);
    } else if (letter < 0x800) {
        add(0xc0 | letter >> 6);
        add(0x80 | (letter & 0x3f));
    } else if (letter < 0x10000) {
        add(0xe0 | letter >> 12);
        add(0x80 | (letter >> 6 & 0x3f));
        add(0x80 | (letter & 0x3f));
    } else {
        add(0xf0 | letter >> 18);
        add(0x80 | (letter >> 12 & 0x3f));
        add(0x80 | (letter >> 6 & 0x3f));
        add(0x80 | (letter & 0x3f));
    }
    return text;
}

std::vector<std::string> split_lines(std::string_view text) {
    std::vector<std::string> lines;
    while (!text.empty()) {
        const size_t end = std::min(text.find('\n'), text.size());
        lines.emplace_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return lines;
}

Canvas::Canvas(Size size, Glyphs glyphs)
    : size_{std::max(size.rows, 1), std::max(size.columns, 1)}, glyphs_(glyphs) {
    cells_.resize(static_cast<size_t>(size_.rows) * static_cast<size_t>(size_.columns));
}

void Canvas::set(int row, int column, char32_t letter, Look look) {
    if (!has(row, column)) {
        return;
    }
    // What stood there may have been half of a wide letter: the other half goes too.
    Cell& cell = cells_[index(row, column)];
    if (cell.letter == 0 && column > 0) {
        cells_[index(row, column - 1)].letter = U' ';
    }
    if (has(row, column + 1) && cells_[index(row, column + 1)].letter == 0) {
        cells_[index(row, column + 1)].letter = U' ';
    }
    cell = {letter, look};
}

int Canvas::put(int row, int column, std::string_view text, Look plain, int room) {
    Look look = plain;
    const int end = std::min(size_.columns, column + std::max(room, 0));
    size_t bar = 0;  // bytes of a bar that are still to come
    while (!text.empty() && column < end) {
        if (const size_t length = read_colour(text, plain, look); length != 0) {
            text.remove_prefix(length);
            continue;
        }
        if (text[0] == '[' && bar == 0) {
            bar = bar_length(text);
        }
        Letter letter = first_letter(text);
        const size_t width = view::display_width(text.substr(0, letter.bytes));
        if (letter.code < 0x20 || letter.code == 0x7f) {
            letter.code = U'?';  // nothing may move the cursor
        }
        text.remove_prefix(letter.bytes);
        bar -= std::min<size_t>(bar, 1);
        if (bar != 0 && glyphs_ == Glyphs::utf8) {
            letter.code = letter.code == U'#' ? U'█' : letter.code == U'.' ? U'░' : letter.code;
        }
        if (width == 0 || column + static_cast<int>(width) > end) {
            continue;  // marks that belong to the letter before are left out
        }
        const char32_t shown = glyphs_ == Glyphs::utf8 ? letter.code : ascii_of(letter.code);
        set(row, column, shown, look);
        if (width == 2) {
            set(row, column + 1, glyphs_ == Glyphs::utf8 ? 0 : shown, look);
        }
        column += static_cast<int>(width);
    }
    return column;
}

int Canvas::put_right(int row, int column_behind, std::string_view text, Look look) {
    const auto width = static_cast<int>(view::display_width(text));
    const int column = std::max(column_behind - width, 0);
    put(row, column, text, look, column_behind - column);
    return column;
}

void Canvas::fill(int row, int column, int count, char32_t letter, Look look) {
    const char32_t shown = glyphs_ == Glyphs::utf8 ? letter : ascii_of(letter);
    for (int i = 0; i < count; ++i) {
        set(row, column + i, shown, look);
    }
}

void Canvas::paint(int row, int column, int count, Look look) {
    for (int i = column; i < column + count; ++i) {
        if (has(row, i)) {
            cells_[index(row, i)].look = look;
        }
    }
}

void Canvas::paint_all(Look from, Look to) {
    for (Cell& cell : cells_) {
        cell.look = cell.look == from ? to : cell.look;
    }
}

void Canvas::box(int row, int column, Size size, std::string_view title, Look look) {
    const int right = column + size.columns - 1;
    const int bottom = row + size.rows - 1;
    for (const int y : {row, bottom}) {
        fill(y, column + 1, size.columns - 2, U'─', look);
    }
    for (int y = row + 1; y < bottom; ++y) {
        fill(y, column, 1, U'│', look);
        fill(y, right, 1, U'│', look);
    }
    fill(row, column, 1, U'┌', look);
    fill(row, right, 1, U'┐', look);
    fill(bottom, column, 1, U'└', look);
    fill(bottom, right, 1, U'┘', look);
    if (!title.empty()) {
        const std::string text =
            " " + view::cut_end(title, static_cast<size_t>(std::max(size.columns - 6, 1))) + " ";
        put(row, column + 2, text, Look::title, size.columns - 4);
    }
}

std::string Canvas::line(int row) const {
    std::string text;
    for (int column = 0; column < size_.columns; ++column) {
        if (const char32_t letter = at(row, column).letter; letter != 0) {
            text += encode(letter);
        }
    }
    text.erase(text.find_last_not_of(' ') + 1);
    return text;
}

std::string Canvas::looks(int row) const {
    constexpr std::string_view kLetters = ".TdgwbBksS";
    static_assert(kLetters.size() == kLooks);
    std::string text;
    for (int column = 0; column < size_.columns; ++column) {
        text += kLetters[static_cast<size_t>(at(row, column).look)];
    }
    text.erase(text.find_last_not_of('.') + 1);
    return text;
}

}  // namespace ttmem::tui
