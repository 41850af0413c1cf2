// SPDX-License-Identifier: Apache-2.0

// What did not work and why, and who died with what.

#include <fmt/format.h>

#include <algorithm>

#include "tui/screens.hpp"
#include "view/format.hpp"
#include "view/text.hpp"

namespace ttmem::tui {

namespace {

void put_scrolled(const std::string& text, const Ui& ui, Canvas& canvas, const Area& area) {
    const size_t count = split_lines(text).size();
    const auto rows = static_cast<size_t>(std::max(area.rows, 0));
    put_text(canvas, area, text, std::min(ui.scroll, count > rows ? count - rows : 0));
}

void draw_post_mortems(const view::PostMortemListView& view, const Ui& ui, Canvas& canvas, const Area& area) {
    if (view.post_mortems.empty()) {
        return put_note(canvas, area, "No process has died while the daemon watched.");
    }
    const std::string text = view::post_mortems_text(view, style_for(canvas, area));
    const std::vector<std::string> lines = split_lines(text);
    put_text(canvas, area, text);
    // The rows of the table come behind a headline, a blank line and the titles.
    constexpr int kBefore = 3;
    const int row =
        area.row + kBefore + static_cast<int>(std::min(ui.post_mortem, view.post_mortems.size() - 1));
    if (row < area.end_row()) {
        canvas.paint(row, area.column, area.columns, Look::selected);
    }
}

}  // namespace

void draw_failures(const Model& model, const Ui& ui, Canvas& canvas, const Area& area) {
    if (!model.problem().empty()) {
        return put_note(canvas, area, model.problem());
    }
    const view::Style style = style_for(canvas, area);
    if (const auto* one = model.answer<view::PostMortemView>(); one != nullptr && ui.open_post_mortem) {
        return put_scrolled(view::post_mortem_text(*one, style), ui, canvas, area);
    }
    if (const auto* list = model.answer<view::PostMortemListView>(); list != nullptr && ui.post_mortems) {
        return draw_post_mortems(*list, ui, canvas, area);
    }
    if (const auto* why = model.answer<view::WhyView>(); why != nullptr && !ui.post_mortems) {
        return put_scrolled(view::why_text(*why, style), ui, canvas, area);
    }
    put_note(canvas, area, "Asking.");
}

}  // namespace ttmem::tui
