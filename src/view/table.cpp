// SPDX-License-Identifier: Apache-2.0
#include "view/table.hpp"

#include <algorithm>

#include "view/format.hpp"

namespace ttmem::view {

namespace {

// The columns that are shown, by index, and how wide each column is.
struct Layout {
    std::vector<size_t> shown;
    std::vector<size_t> width;
};

size_t total(const std::vector<Column>& columns, const std::vector<size_t>& shown,
             const std::vector<size_t>& width) {
    size_t sum = 0;
    for (const size_t i : shown) {
        sum += width[i] + (i == shown.front() ? 0 : columns[i].gap);
    }
    return sum;
}

// Takes from the widest column that is above its least width, one column of the screen at a time, so that those alike
// stay alike.
bool narrow(Layout& layout, const std::vector<size_t>& least) {
    size_t* widest = nullptr;
    for (const size_t i : layout.shown) {
        if (layout.width[i] > least[i] && (widest == nullptr || layout.width[i] > *widest)) {
            widest = &layout.width[i];
        }
    }
    if (widest == nullptr) {
        return false;
    }
    --*widest;
    return true;
}

bool leave_out(const std::vector<Column>& columns, Layout& layout, std::vector<std::string>* left_out) {
    const auto last = std::max_element(layout.shown.begin(), layout.shown.end(),
                                       [&](size_t a, size_t b) { return columns[a].rank < columns[b].rank; });
    if (last == layout.shown.end() || columns[*last].rank == 0) {
        return false;
    }
    if (left_out != nullptr) {
        left_out->push_back(columns[*last].title);
    }
    layout.shown.erase(last);
    return true;
}

std::string padding(size_t width, const std::string& text) {
    return std::string(width - std::min(width, display_width(text)), ' ');
}

void append_cell(std::string& line, const Column& column, size_t width, const Cell& cell,
                 const Style& style) {
    const bool keep_end = column.keep == Column::Keep::end;
    const bool may_cut = style.cut && column.least_width != 0;
    const std::string text = !may_cut   ? cell.text
                             : keep_end ? cut_beginning(cell.text, width)
                                        : cut_end(cell.text, width);
    const std::string blanks = padding(width, text);
    const std::string shown = coloured(text, cell.tone, style);
    line += column.align == Column::Align::left ? shown + blanks : blanks + shown;
}

}  // namespace

std::string coloured(const std::string& text, Tone tone, const Style& style) {
    if (!style.colour || tone == Tone::plain || text.empty()) {
        return text;
    }
    const char* const code = tone == Tone::title  ? "1"
                             : tone == Tone::good ? "32"
                             : tone == Tone::warn ? "33"
                                                  : "31";
    return std::string("\x1b[") + code + "m" + text + "\x1b[0m";
}

std::vector<size_t> Table::natural_widths() const {
    std::vector<size_t> widths;
    for (size_t i = 0; i < columns_.size(); ++i) {
        size_t width = display_width(columns_[i].title);
        for (const auto& row : rows_) {
            width = std::max(width, display_width(row[i].text));
        }
        widths.push_back(width);
    }
    return widths;
}

std::string Table::text(const Style& style, std::vector<std::string>* left_out) const {
    Layout layout{{}, natural_widths()};
    std::vector<size_t> least = layout.width;
    for (size_t i = 0; i < columns_.size(); ++i) {
        layout.shown.push_back(i);
        if (columns_[i].least_width != 0) {
            least[i] =
                std::min(least[i], std::max(columns_[i].least_width, display_width(columns_[i].title)));
        }
    }
    while (total(columns_, layout.shown, least) > style.width && leave_out(columns_, layout, left_out)) {
    }
    while (style.cut && total(columns_, layout.shown, layout.width) > style.width && narrow(layout, least)) {
    }
    std::vector<Cell> titles;
    for (const Column& column : columns_) {
        titles.emplace_back(column.title, Tone::title);
    }
    std::string text;
    const auto append_row = [&](const std::vector<Cell>& row) {
        std::string line;
        for (const size_t i : layout.shown) {
            line += std::string(i == layout.shown.front() ? 0 : columns_[i].gap, ' ');
            append_cell(line, columns_[i], layout.width[i], row[i], style);
        }
        line.erase(line.find_last_not_of(' ') + 1);
        text += line + "\n";
    };
    append_row(titles);
    std::for_each(rows_.begin(), rows_.end(), append_row);
    return text;
}

}  // namespace ttmem::view
