// SPDX-License-Identifier: Apache-2.0
#pragma once

// A table that fits a width. Long cells are cut where their column allows it. If that is not enough, the columns with the highest
// rank are left out, and a line below the table names them. In a pipe nothing is cut and nothing left out.

#include <cassert>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "view/text/spans.hpp"

namespace ttmem::view {

// The columns that the user chose by name (--columns).
struct ColumnChoice {
    std::vector<std::string> names;
    std::vector<std::string> offered;  // the names of all columns of the tables that were made

    // The first name that no table has; empty if there is none.
    std::string unknown() const;
};

struct Style {
    size_t width = 80;
    // Plain numbers instead of KiB, MiB, GiB.
    bool bytes = false;
    // False for pipes: cells keep their length, so that tools can search for whole names.
    bool cut = true;
    // Allows block characters in charts.
    bool utf8 = false;
    // Names the columns that did not fit, below the table.
    bool names_left_out = true;
    // Gets these names too, once each.
    std::vector<std::string>* left_out = nullptr;
    // Shows these columns, in this order, and no others. Absent: all that fit.
    ColumnChoice* columns = nullptr;
    // False: tables have no line of titles.
    bool header = true;
};

struct Column {
    std::string title;
    enum class Align { left, right } align = Align::right;
    // Without enough width, the column with the highest rank is left out first. Rank 0 always stays.
    int rank = 0;
    // The column may be cut to this width. 0: never cut.
    size_t least_width = 0;
    enum class KeptPart { beginning, end } keep = KeptPart::beginning;
    // The column counts with at least this width when the table chooses what fits. So the choice does not change from one
    // second to the next with the length of a number.
    size_t room = 0;
    // Spaces before the column.
    size_t gap = 2;

    // Its name for --columns: "cb_top" for "CB TOP"; empty for a column without a title.
    std::string name() const;
};

// Columns of numbers, whose width changes with the number.
Column bytes_column(std::string title, int rank, const Style& style);
Column age_column(std::string title, int rank);
Column pid_column(std::string title = "PID");
Column count_column(std::string title, int rank);

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

    // Columns are never narrower than their room, so that tables that follow each other are aligned.
    void align_with_others() { is_aligned_with_others_ = true; }

    // The titles, then one line per row, then the names of the columns that did not fit. Empty if the user chose columns and
    // the table has none of them.
    Text text(const Style& style) const;

private:
    std::vector<size_t> natural_widths() const;
    // By index, the chosen ones in the order of the choice.
    std::vector<size_t> candidates(const Style& style) const;

    std::vector<Column> columns_;
    std::vector<std::vector<Line>> rows_;
    bool is_aligned_with_others_ = false;
};

}  // namespace ttmem::view
