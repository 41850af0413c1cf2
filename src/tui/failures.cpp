// SPDX-License-Identifier: Apache-2.0

// Failed allocations with the holders of the memory, and post-mortems.

#include <fmt/format.h>

#include <algorithm>

#include "tui/screens.hpp"
#include "view/text/format.hpp"
#include "view/text/parts.hpp"
#include "view/text/screens.hpp"
#include "view/text/tables.hpp"

namespace ttmem::tui {

namespace {

void draw_post_mortems(const view::PostMortemListView& view, const Ui& ui, Canvas& canvas, const Area& area) {
    const size_t count = view.post_mortems.size();
    if (count == 0) {
        return put_note(canvas, area, "No process has died while the daemon was running.");
    }
    std::string title = view::format_count(count, "post-mortem", "post-mortems");
    title += view.dropped == 0 ? "" : fmt::format(", {} older no longer kept", view.dropped);
    title += ". Used bytes at death, summed over the devices of a process.";
    canvas.put(area.row, area.column, title, CellStyle::title, area.columns);
    const Area list = area.below(2);
    const size_t selected = std::min(ui.post_mortem, count - 1);
    const auto rows = static_cast<size_t>(std::max(list.rows - 1, 0));
    put_table(canvas, list, view::post_mortem_table(view, style_for(canvas, list)),
              scroll_to(selected, rows, count), selected);
}

}  // namespace

void draw_failures(const Model& model, const Ui& ui, Canvas& canvas, const Area& area) {
    if (!model.problem().empty()) {
        return put_note(canvas, area, model.problem());
    }
    const view::Style style = style_for(canvas, area);
    if (const auto* one = model.answer<view::PostMortemView>(); one != nullptr && ui.open_post_mortem) {
        return put_scrolled(canvas, area, view::post_mortem_text(*one, style), ui.scroll);
    }
    if (const auto* list = model.answer<view::PostMortemListView>(); list != nullptr && ui.post_mortems) {
        return draw_post_mortems(*list, ui, canvas, area);
    }
    if (const auto* why = model.answer<view::WhyView>(); why != nullptr && !ui.post_mortems) {
        return put_scrolled(canvas, area, view::why_text(*why, style), ui.scroll);
    }
    put_note(canvas, area, kWaiting);
}

}  // namespace ttmem::tui
