// SPDX-License-Identifier: Apache-2.0
#pragma once

// A table that fits a width. Long cells are cut where their column allows it. If that is not enough, the columns with the highest
// rank are left out.

#include <cassert>
#include <cstddef>
#include <string>
#include <vector>

#include "view/text/spans.hpp"

namespace ttmem::view {

struct Style {
    size_t width = 80;
    // Plain numbers instead of KiB, MiB, GiB.
    bool bytes = false;
    // False for pipes: cells keep their length, so that tools can search for whole names.
    bool cut = true;
    // Allows block characters in charts.
    bool utf8 = false;
};

struct Column {
    std::string title;
    enum class Align { left, right } align = Align::right;
    // Without enough width, the column with the highest rank is left out first. Rank 0 always stays.
    int rank = 0;
    // The column may be cut to this width. 0: never cut.
    size_t least_width = 0;
    enum class KeptPart { beginning, end } keep = KeptPart::beginning;
    // Spaces before the column.
    size_t gap = 2;
};

constexpr auto kLeft = Column::Align::left;
constexpr auto kRight = Column::Align::right;

class Table {
public:
    explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

    // One cell per column.
    void add(std::vector<Line> row) {
        assert(row.size() == columns_.size());
        rows_.push_back(std::move(row));
    }

    // The titles, then one line per row. Appends the titles of the columns that did not fit to `left_out`.
    Text text(const Style& style, std::vector<std::string>* left_out = nullptr) const;

private:
    std::vector<size_t> natural_widths() const;

    std::vector<Column> columns_;
    std::vector<std::vector<Line>> rows_;
};

}  // namespace ttmem::view
