// SPDX-License-Identifier: Apache-2.0

// Failed allocations with the holders of the memory, and post-mortems.

#include <fmt/format.h>

#include <algorithm>

#include "tui/lists.hpp"
#include "tui/screens.hpp"
#include "view/text/format.hpp"
#include "view/text/parts.hpp"
#include "view/text/screens.hpp"
#include "view/text/tables.hpp"

namespace ttmem::tui {

namespace {

void draw_post_mortems(const view::PostMortemListView& view, const Model& model, const Ui& ui, Canvas& canvas,
                       const Area& area) {
    if (view.post_mortems.empty()) {
        return put_note(canvas, area,
                        view::empty_list_text("No process has died while the daemon was running.",
                                              view::hidden_line(view)));
    }
    std::string title = view::format_count(view.post_mortems.size(), "post-mortem", "post-mortems");
    title +=
        view.hidden_post_mortems == 0 ? "" : fmt::format(", {} of other users", view.hidden_post_mortems);
    title += view.dropped == 0 ? "" : fmt::format(", {} older no longer kept", view.dropped);
    title += ui.filter().empty() ? ". Used bytes at death, summed over the devices of a process."
                                 : fmt::format(", those with '{}'", ui.filter());
    canvas.put(area.row, area.column, title, CellStyle::title, area.columns);
    const Area list = area.below(2);
    const std::vector<view::EqualPostMortems> rows = listed_post_mortems(model, ui);
    if (rows.empty()) {
        return put_note(canvas, list, "No matching post-mortem.");
    }
    put_list(canvas, list, view::post_mortem_table(rows, view.origin.time_ns, style_for(canvas, list)),
             rows.size(), selected_row(model, ui));
}

// The text of `ttmem why`, with one of the failures selected.
void draw_why(const view::WhyView& view, const Model& model, const Ui& ui, Canvas& canvas, const Area& area) {
    view::WhyView shown = view;
    shown.failures.failures.clear();
    for (const census::FailureFigures* failure : listed_failures(model, ui)) {
        shown.failures.failures.push_back(*failure);
    }
    if (shown.failures.failures.empty() && !view.failures.failures.empty()) {
        return put_note(canvas, area, "No matching failure.");
    }
    const view::Text text = view::why_text(shown, style_for(canvas, area));
    // The rows follow the line of titles, which begins with a number sign.
    const auto titles = std::find_if(text.lines().begin(), text.lines().end(), [](const view::Line& line) {
        const std::string plain = line.plain();
        return plain.substr(std::min(plain.find_first_not_of(' '), plain.size())).starts_with('#');
    });
    const auto row = selected_row(model, ui);
    const auto rows = static_cast<size_t>(std::max(area.rows, 0));
    if (!row || titles == text.lines().end()) {
        return put_scrolled(canvas, area, text, ui.scroll);
    }
    const auto line = static_cast<size_t>(titles - text.lines().begin()) + 1 + *row;
    const size_t last_page = text.size() - std::min(text.size(), rows);
    const size_t first = std::max(line < rows ? 0 : line - rows + 1, std::min(ui.scroll, last_page));
    put_text(canvas, area, text, first);
    const size_t top = line - *row;  // the line of the first failure
    for (size_t i = 0; i < shown.failures.failures.size(); ++i) {
        if (top + i >= first && top + i - first < rows) {
            canvas.add_hit(area.row + static_cast<int>(top + i - first), area.column, area.columns,
                           {CanvasHit::What::row, static_cast<uint32_t>(i)});
        }
    }
    if (line >= first && line - first < rows) {
        canvas.paint(area.row + static_cast<int>(line - first), area.column, area.columns,
                     CellStyle::selected);
    }
}

// The card of one failure, with the map.
void draw_card(const view::WhyView& view, const UiLocation::OpenCard& open, const Ui& ui, Canvas& canvas,
               const Area& area) {
    for (const census::FailureFigures& failure : view.failures.failures) {
        if (failure.pid == open.pid && failure.card && failure.card->number == open.number) {
            return put_scrolled(
                canvas, area,
                view::card_text(failure, fmt::format("Card {}", open.number), style_for(canvas, area)),
                ui.scroll);
        }
    }
    put_note(canvas, area, "This card is no longer kept.");
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
        return draw_post_mortems(*list, model, ui, canvas, area);
    }
    if (const auto* why = model.answer<view::WhyView>(); why != nullptr && ui.open_card && !ui.post_mortems) {
        return draw_card(*why, *ui.open_card, ui, canvas, area);
    }
    if (const auto* why = model.answer<view::WhyView>(); why != nullptr && !ui.post_mortems) {
        return draw_why(*why, model, ui, canvas, area);
    }
    put_note(canvas, area, kWaiting);
}

}  // namespace ttmem::tui
