// SPDX-License-Identifier: Apache-2.0

// What happens, as it happens: the newest below.

#include <fmt/format.h>

#include <algorithm>

#include "tui/screens.hpp"
#include "view/chronicle_text.hpp"
#include "view/format.hpp"

namespace ttmem::tui {

namespace {

Look look_of_event(const view::EventView& event) {
    if (event.what == "failure") {
        return Look::bad;
    }
    if (event.what == "gap" || event.what == "process_died") {
        return Look::warn;
    }
    if (event.what == "process_started") {
        return Look::good;
    }
    return event.what == "free" || event.what == "set_closed" ? Look::dim : Look::plain;
}

}  // namespace

void draw_events(const Model& model, const Ui& ui, Canvas& canvas, const Area& area) {
    if (model.events().empty() && !model.problem().empty()) {
        return put_note(canvas, area, model.problem());
    }
    const view::Style style{.width = static_cast<size_t>(area.columns)};
    // From the newest back, and no further than it is looked at.
    const auto rows = static_cast<size_t>(std::max(area.rows - 1, 0));
    std::vector<std::pair<std::string, Look>> lines;
    for (auto event = model.events().rbegin();
         event != model.events().rend() && lines.size() < rows + ui.scroll; ++event) {
        if (ui.paused && event->sequence > ui.paused_at) {
            continue;
        }
        std::string line = view::event_line(*event, style);
        if (ui.event_filter.empty() || line.find(ui.event_filter) != std::string::npos) {
            lines.emplace_back(std::move(line), look_of_event(*event));
        }
    }
    std::reverse(lines.begin(), lines.end());
    std::string head =
        fmt::format("Events{}{}", ui.event_filter.empty() ? "" : fmt::format(" with '{}'", ui.event_filter),
                    ui.paused ? ", paused" : "");
    head += model.events_missed() != 0
                ? fmt::format(" ({} passed over: more than can be read)",
                              view::format_count(model.events_missed(), "event", "events"))
                : "";
    canvas.put(area.row, area.column, head, ui.paused ? Look::warn : Look::title, area.columns);
    const Area list = area.below(1);
    if (lines.empty()) {
        return put_note(
            canvas, list,
            ui.event_filter.empty() ? "Nothing has happened yet." : "Nothing that matches has happened.");
    }
    for (size_t i = 0; i < std::min(lines.size(), rows); ++i) {
        canvas.put(list.row + static_cast<int>(i), list.column, view::cut_end(lines[i].first, style.width),
                   lines[i].second, list.columns);
    }
}

}  // namespace ttmem::tui
