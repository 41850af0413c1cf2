// SPDX-License-Identifier: Apache-2.0
#include "view/text/table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cassert>
#include <cctype>

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
    for (size_t place = 0; place < shown.size(); ++place) {
        sum += width[shown[place]] + (place == 0 ? 0 : columns[shown[place]].gap);
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

bool leave_out(const std::vector<Column>& columns, TableLayout& layout, std::vector<std::string>& left_out) {
    const auto last = std::max_element(layout.shown.begin(), layout.shown.end(),
                                       [&](size_t a, size_t b) { return columns[a].rank < columns[b].rank; });
    if (last == layout.shown.end() || columns[*last].rank == 0) {
        return false;
    }
    left_out.push_back(columns[*last].name());
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

// "Not shown: age, state. Choose with --columns, or widen the terminal." Without a choice of columns, only the terminal helps.
Text left_out_text(const std::vector<std::string>& names, const Style& style) {
    Text text;
    if (names.empty() || !style.names_left_out) {
        return text;
    }
    for (std::string& line :
         wrap_words(fmt::format("Not shown: {}. {} the terminal.", fmt::join(names, ", "),
                                style.columns != nullptr ? "Choose with --columns, or widen" : "Widen"),
                    style.width)) {
        text.add(std::move(line));
    }
    return text;
}

}  // namespace

std::string ColumnChoice::unknown() const {
    const auto found = std::find_if(names.begin(), names.end(), [&](const std::string& name) {
        return std::find(offered.begin(), offered.end(), name) == offered.end();
    });
    return offered.empty() || found == names.end() ? "" : *found;
}

std::string Column::name() const {
    std::string name;
    for (const char c : title) {
        const bool is_word = std::isalnum(static_cast<unsigned char>(c)) != 0;
        if (is_word) {
            name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        } else if (!name.empty() && name.back() != '_') {
            name += '_';
        }
    }
    return name;
}

Column bytes_column(std::string title, int rank, const Style& style) {
    Column column{std::move(title), kRight, rank};
    column.room = style.bytes ? 11 : 9;  // "12872318208", "999.9 MiB"
    return column;
}

Column age_column(std::string title, int rank) {
    Column column{std::move(title), kRight, rank};
    column.room = 6;  // "12d03h"
    return column;
}

Column pid_column(std::string title) {
    Column column{std::move(title)};
    column.room = 7;  // "4194304"
    return column;
}

Column count_column(std::string title, int rank) {
    Column column{std::move(title), kRight, rank};
    column.room = 5;
    return column;
}

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

std::vector<size_t> Table::candidates(const Style& style) const {
    std::vector<size_t> result;
    if (style.columns == nullptr || style.columns->names.empty()) {
        for (size_t i = 0; i < columns_.size(); ++i) {
            result.push_back(i);
        }
        return result;
    }
    std::vector<std::string>& offered = style.columns->offered;
    for (const Column& column : columns_) {
        const bool is_new = std::find(offered.begin(), offered.end(), column.name()) == offered.end();
        if (is_new && !column.name().empty()) {
            offered.push_back(column.name());
        }
    }
    for (const std::string& name : style.columns->names) {
        const auto found = std::find_if(columns_.begin(), columns_.end(),
                                        [&](const Column& column) { return column.name() == name; });
        if (found != columns_.end()) {
            result.push_back(static_cast<size_t>(found - columns_.begin()));
        }
    }
    return result;
}

Text Table::text(const Style& style) const {
    TableLayout layout{candidates(style), natural_widths()};
    if (layout.shown.empty()) {
        return {};
    }
    std::vector<size_t> least = layout.width;
    std::vector<size_t> counted = layout.width;
    for (size_t i = 0; i < columns_.size(); ++i) {
        const Column& column = columns_[i];
        if (is_aligned_with_others_) {
            layout.width[i] = std::max(layout.width[i], column.room);
            least[i] = layout.width[i];
        }
        counted[i] = std::max(layout.width[i], column.room);
        if (column.least_width != 0) {
            counted[i] = std::max(column.least_width, display_width(column.title));
            least[i] = std::min(layout.width[i], counted[i]);
        }
    }
    std::vector<std::string> left_out;
    const bool is_chosen = style.columns != nullptr && !style.columns->names.empty();
    while (style.cut && !is_chosen && total_width(columns_, layout.shown, counted) > style.width &&
           leave_out(columns_, layout, left_out)) {
    }
    while (style.cut && total_width(columns_, layout.shown, layout.width) > style.width &&
           narrow(layout, least)) {
    }
    std::reverse(left_out.begin(), left_out.end());  // the most important first
    for (size_t i = 0; style.left_out != nullptr && i < left_out.size(); ++i) {
        if (std::find(style.left_out->begin(), style.left_out->end(), left_out[i]) == style.left_out->end()) {
            style.left_out->push_back(left_out[i]);
        }
    }
    std::vector<Line> titles;
    for (const Column& column : columns_) {
        titles.emplace_back(column.title, Tone::title);
    }
    Text text;
    const auto append_row = [&](const std::vector<Line>& row) {
        Line line;
        for (size_t place = 0; place < layout.shown.size(); ++place) {
            const size_t i = layout.shown[place];
            line.add(std::string(place == 0 ? 0 : columns_[i].gap, ' '));
            append_cell(line, columns_[i], layout.width[i], row[i], style);
        }
        line.trim_end();
        text.add(std::move(line));
    };
    if (style.header) {
        append_row(titles);
    }
    std::for_each(rows_.begin(), rows_.end(), append_row);
    return text.add(left_out_text(left_out, style));
}

}  // namespace ttmem::view
