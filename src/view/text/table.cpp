// SPDX-License-Identifier: Apache-2.0
#include "view/text/table.hpp"

#include <algorithm>
#include <cassert>

#include "view/text/format.hpp"

namespace ttmem::view {

namespace {

// The columns to show, by index, and the width of every column.
struct TableLayout {
    std::vector<size_t> shown;
    std::vector<size_t> width;
};

size_t total_width(const std::vector<Column>& columns, const std::vector<size_t>& shown,
                   const std::vector<size_t>& width) {
    size_t sum = 0;
    for (const size_t i : shown) {
        sum += width[i] + (i == shown.front() ? 0 : columns[i].gap);
    }
    return sum;
}

// Takes one terminal column from the widest column that is above its least width. One at a time, so that equal columns stay
// equal.
bool narrow(TableLayout& layout, const std::vector<size_t>& least) {
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

bool leave_out(const std::vector<Column>& columns, TableLayout& layout, std::vector<std::string>* left_out) {
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

// A cell that is too wide becomes one span in the tone of its first span.
Line cut_cell(const Line& cell, size_t width, Column::KeptPart keep) {
    if (cell.width() <= width) {
        return cell;
    }
    assert(!cell.spans().empty());  // it is wider than 0
    const std::string text = cell.plain();
    return {keep == Column::KeptPart::end ? cut_beginning(text, width) : cut_end(text, width),
            cell.spans().front().tone};
}

void append_cell(Line& line, const Column& column, size_t width, const Line& cell, const Style& style) {
    const bool may_cut = style.cut && column.least_width != 0;
    const Line shown = may_cut ? cut_cell(cell, width, column.keep) : cell;
    const std::string padding(width - std::min(width, shown.width()), ' ');
    if (column.align == Column::Align::left) {
        line.add(shown).add(padding);
    } else {
        line.add(padding).add(shown);
    }
}

}  // namespace

std::vector<size_t> Table::natural_widths() const {
    std::vector<size_t> widths;
    for (size_t i = 0; i < columns_.size(); ++i) {
        size_t width = display_width(columns_[i].title);
        for (const auto& row : rows_) {
            width = std::max(width, row[i].width());
        }
        widths.push_back(width);
    }
    return widths;
}

Text Table::text(const Style& style, std::vector<std::string>* left_out) const {
    TableLayout layout{{}, natural_widths()};
    std::vector<size_t> least = layout.width;
    for (size_t i = 0; i < columns_.size(); ++i) {
        layout.shown.push_back(i);
        if (columns_[i].least_width != 0) {
            least[i] =
                std::min(least[i], std::max(columns_[i].least_width, display_width(columns_[i].title)));
        }
    }
    while (total_width(columns_, layout.shown, least) > style.width &&
           leave_out(columns_, layout, left_out)) {
    }
    while (style.cut && total_width(columns_, layout.shown, layout.width) > style.width &&
           narrow(layout, least)) {
    }
    std::vector<Line> titles;
    for (const Column& column : columns_) {
        titles.emplace_back(column.title, Tone::title);
    }
    Text text;
    const auto append_row = [&](const std::vector<Line>& row) {
        Line line;
        for (const size_t i : layout.shown) {
            line.add(std::string(i == layout.shown.front() ? 0 : columns_[i].gap, ' '));
            append_cell(line, columns_[i], layout.width[i], row[i], style);
        }
        line.trim_end();
        text.add(std::move(line));
    };
    append_row(titles);
    std::for_each(rows_.begin(), rows_.end(), append_row);
    return text;
}

}  // namespace ttmem::view
