// SPDX-License-Identifier: Apache-2.0

// Events as they happen, the newest at the bottom.

#include <fmt/format.h>

#include <algorithm>

#include "tui/screens.hpp"
#include "view/text/format.hpp"
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
    const view::Style style{.width = static_cast<size_t>(area.columns)};
    // From the newest back to the first visible one.
    const auto rows = static_cast<size_t>(std::max(area.rows - 1, 0));
    std::vector<std::pair<std::string, CellStyle>> lines;
    for (auto event = model.events().rbegin();
         event != model.events().rend() && lines.size() < rows + ui.scroll; ++event) {
        if (ui.paused && event->sequence > ui.paused_at) {
            continue;
        }
        std::string line = view::event_line(*event, style).plain();
        if (ui.event_filter.empty() || line.find(ui.event_filter) != std::string::npos) {
            lines.emplace_back(std::move(line), style_of_event(*event));
        }
    }
    std::reverse(lines.begin(), lines.end());
    std::string title = fmt::format(
        "Events{}{}", ui.event_filter.empty() ? "" : fmt::format(" containing '{}'", ui.event_filter),
        ui.paused ? ", paused" : "");
    title += model.events_missed() != 0
                 ? fmt::format(" ({} skipped)", view::format_count(model.events_missed(), "event", "events"))
                 : "";
    canvas.put(area.row, area.column, title, ui.paused ? CellStyle::warn : CellStyle::title, area.columns);
    const Area list = area.below(1);
    if (lines.empty()) {
        return put_note(canvas, list, ui.event_filter.empty() ? "No events yet." : "No matching events.");
    }
    for (size_t i = 0; i < std::min(lines.size(), rows); ++i) {
        canvas.put(list.row + static_cast<int>(i), list.column, view::cut_end(lines[i].first, style.width),
                   lines[i].second, list.columns);
    }
}

}  // namespace ttmem::tui
