// SPDX-License-Identifier: Apache-2.0

// Events as they happen, the newest at the bottom.

#include <fmt/format.h>

#include <algorithm>

#include "tui/lists.hpp"
#include "tui/screens.hpp"
#include "view/text/format.hpp"
#include "view/text/parts.hpp"
#include "view/text/screens.hpp"

namespace ttmem::tui {

namespace {

CellStyle style_of_event(const view::EventView& event) {
    using history::RecordType;
    switch (event.type) {
        case RecordType::failure:
            return CellStyle::bad;
        case RecordType::gap:
        case RecordType::process_died:
            return CellStyle::warn;
        case RecordType::process_started:
            return CellStyle::good;
        case RecordType::free:
        case RecordType::set_closed:
            return CellStyle::dim;
        case RecordType::allocation:
        case RecordType::set_opened:
            break;
    }
    return CellStyle::plain;
}

}  // namespace

void draw_events(const Model& model, const Ui& ui, Canvas& canvas, const Area& area) {
    if (model.events().empty() && !model.problem().empty()) {
        return put_note(canvas, area, model.problem());
    }
    const view::Style style = style_for(canvas, area);
    const auto rows = static_cast<size_t>(std::max(area.rows - 2, 0));
    const std::vector<const view::EventView*> events = listed_events(model, ui);
    const auto selected = selected_row(model, ui);
    std::string title =
        fmt::format("Events{}{}", ui.filter().empty() ? "" : fmt::format(" containing '{}'", ui.filter()),
                    ui.paused ? ", paused" : "");
    title += model.events_missed() != 0
                 ? fmt::format(" ({} skipped)", view::format_count(model.events_missed(), "event", "events"))
                 : "";
    title += model.events_hidden() != 0 ? fmt::format(" ({} of other users not shown)", model.events_hidden())
                                        : "";
    canvas.put(area.row, area.column, title, ui.paused ? CellStyle::warn : CellStyle::title, area.columns);
    if (events.empty()) {
        return put_note(canvas, area.below(1),
                        view::empty_list_text(ui.filter().empty() ? "No events yet." : "No matching events.",
                                              view::hidden_events_line(model.events_hidden())));
    }
    canvas.put_line(area.row + 1, area.column, view::event_titles(style), area.columns);
    const Area list = area.below(2);
    // Without a selection, the newest is visible.
    const size_t newest = ui.is_reverse() ? 0 : events.size() - 1;
    const size_t first = scroll_to(selected.value_or(newest), rows, events.size());
    for (size_t i = 0; i < std::min(events.size() - first, rows); ++i) {
        const view::EventView& event = *events[first + i];
        const int row = list.row + static_cast<int>(i);
        canvas.put(row, list.column, view::cut_end(view::event_line(event, style).plain(), style.width),
                   style_of_event(event), list.columns);
        canvas.add_hit(row, list.column, list.columns,
                       {CanvasHit::What::row, static_cast<uint32_t>(first + i)});
        if (selected == first + i) {
            canvas.paint(row, list.column, list.columns, CellStyle::selected);
        }
    }
}

}  // namespace ttmem::tui
