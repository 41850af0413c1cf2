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
    const std::vector<const view::KeptCard*> kept = listed_kept(model, ui);
    const std::vector<const census::FailureFigures*> failures = listed_failures(model, ui);
    if (failures.empty() && !(view.failures.failures.empty() && view.kept.newest_first.empty())) {
        return put_note(canvas, area, "No matching failure.");
    }
    view::WhyView shown = view;
    shown.failures.failures.clear();
    for (size_t i = 0; i + kept.size() < failures.size(); ++i) {
        shown.failures.failures.push_back(*failures[i]);
    }
    shown.kept.newest_first.clear();
    for (const view::KeptCard* card : kept) {
        shown.kept.newest_first.push_back(*card);
    }
    const view::WhyLines lines = view::why_lines(shown, style_for(canvas, area));
    const auto row = selected_row(model, ui);
    const auto rows = static_cast<size_t>(std::max(area.rows, 0));
    if (!row || *row >= lines.failures.size()) {
        return put_scrolled(canvas, area, lines.text, ui.scroll);
    }
    const size_t line = lines.failures[*row];
    const size_t last_page = lines.text.size() - std::min(lines.text.size(), rows);
    const size_t first = std::max(line < rows ? 0 : line - rows + 1, std::min(ui.scroll, last_page));
    put_text(canvas, area, lines.text, first);
    for (size_t i = 0; i < lines.failures.size(); ++i) {
        const size_t at = lines.failures[i];
        if (at >= first && at - first < rows) {
            canvas.add_hit(area.row + static_cast<int>(at - first), area.column, area.columns,
                           {CanvasHit::What::row, static_cast<uint32_t>(i)});
        }
    }
    if (line >= first && line - first < rows) {
        canvas.paint(area.row + static_cast<int>(line - first), area.column, area.columns,
                     CellStyle::selected);
    }
}

const census::FailureFigures* find_card(const view::WhyView& view, const UiLocation::OpenCard& open) {
    const auto is_open = [&](const census::FailureFigures& failure) {
        return failure.pid == open.pid && failure.card && failure.card->number == open.number;
    };
    for (const census::FailureFigures& failure : view.failures.failures) {
        if (!open.kept_ns && is_open(failure)) {
            return &failure;
        }
    }
    // A process that ended since its card was opened has it here.
    for (const view::KeptCard& card : view.kept.newest_first) {
        if (is_open(card.failure) && open.kept_ns.value_or(card.failure.time_ns) == card.failure.time_ns) {
            return &card.failure;
        }
    }
    return nullptr;
}

// The card of one failure, with the map.
void draw_card(const view::WhyView& view, const UiLocation::OpenCard& open, const Ui& ui, Canvas& canvas,
               const Area& area) {
    const census::FailureFigures* failure = find_card(view, open);
    if (failure == nullptr) {
        return put_note(canvas, area, "This card is no longer kept.");
    }
    put_scrolled(canvas, area,
                 view::card_text(*failure, fmt::format("Card {}", open.number), style_for(canvas, area)),
                 ui.scroll);
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
