// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "tui/key_bindings.hpp"
#include "tui/screens.hpp"

namespace ttmem::tui {

void draw_help(const Ui& ui, Canvas& canvas, const Area& whole) {
    constexpr int kIndent = 2;
    Area area = whole;
    if (!ui.page.empty() && area.rows > 1) {
        canvas.put(area.row, canvas.put(area.row, area.column, "Page  ", CellStyle::title), ui.page);
        ++area.row;
        --area.rows;
    }
    const std::vector<HelpLine>& lines = help_lines();
    size_t widest = 0;
    for (const HelpLine& line : lines) {
        widest = std::max(widest, line.keys.size());
    }
    const int text_column = area.column + kIndent + static_cast<int>(widest) + 2;
    const auto count = static_cast<int>(lines.size());
    const int first =
        std::min(static_cast<int>(std::min(ui.scroll, lines.size())), std::max(count - area.rows, 0));
    for (int i = first; i < count && i - first < area.rows; ++i) {
        const int row = area.row + i - first;
        const HelpLine& line = lines[static_cast<size_t>(i)];
        if (line.keys.empty()) {
            canvas.put(row, area.column, line.text, CellStyle::title);
            continue;
        }
        canvas.put(row, area.column + kIndent, line.keys, CellStyle::key);
        canvas.put(row, text_column, line.text);
    }
    if (first + area.rows < count && area.rows > 0) {
        canvas.put_right(area.end_row() - 1, area.column + area.columns, "  more below (PgDn)",
                         CellStyle::dim);
    }
}

}  // namespace ttmem::tui
