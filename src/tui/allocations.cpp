// SPDX-License-Identifier: Apache-2.0

// Live allocations, as a list or in groups, all of them or only those after a mark.

#include <fmt/format.h>

#include <algorithm>

#include "tui/screens.hpp"
#include "view/text/format.hpp"
#include "view/text/tables.hpp"

namespace ttmem::tui {

namespace {

// "Since the mark 12s ago: 14 live allocations in 3 groups by name, all devices, process 4711 only, name contains 'kv'".
std::string title_of_list(const Model& model, const Ui& ui, const std::string& what) {
    std::string text =
        ui.mark_ns ? fmt::format("Since the mark {} ago: ",
                                 view::format_age(model.now_ns() - std::min(model.now_ns(), ui.mark_time_ns)))
                   : "";
    text += what;
    const census::DeviceFigures* device = chosen_device(model, ui);
    text += ui.all_devices || device == nullptr ? ", all devices" : fmt::format(", device {}", device->id);
    text += ui.pid ? fmt::format(", process {} only", *ui.pid) : "";
    return text + (ui.filter.empty() ? "" : fmt::format(", name contains '{}'", ui.filter));
}

void draw_list(const std::string& title, const view::Text& table, size_t count, const Ui& ui, Canvas& canvas,
               const Area& area) {
    canvas.put(area.row, area.column, view::cut_end(title, static_cast<size_t>(area.columns)),
               CellStyle::title);
    const Area list = area.below(1);
    if (count == 0) {
        return put_note(canvas, list, "No matching allocations.");
    }
    const auto rows = static_cast<size_t>(std::max(list.rows - 1, 0));
    put_table(canvas, list, table, std::min(ui.scroll, count - std::min(count, rows)));
}

uint64_t used_bytes(const std::vector<census::Group>& groups) {
    uint64_t sum = 0;
    for (const census::Group& group : groups) {
        sum += group.used;
    }
    return sum;
}

void draw_groups(const view::GroupView& view, const Model& model, const Ui& ui, Canvas& canvas,
                 const Area& area) {
    std::string what = fmt::format(
        "{} in {} by {}", view::format_count(view.allocations, "live allocation", "live allocations"),
        view::format_count(view.total, "group", "groups"), census::name_of(view.group));
    if (ui.mark_ns && view.left_out() == 0) {
        what += fmt::format(", {} more", view::format_bytes(used_bytes(view.groups)));
    }
    draw_list(title_of_list(model, ui, what),
              view::group_table(view.groups, view.group, style_for(canvas, area)), view.groups.size(), ui,
              canvas, area);
}

void draw_single_allocations(const view::AllocationView& view, const Model& model, const Ui& ui,
                             Canvas& canvas, const Area& area) {
    const std::string what =
        fmt::format("{} by {}", view::format_count(view.total, "live allocation", "live allocations"),
                    census::name_of(view.sort));
    draw_list(title_of_list(model, ui, what),
              view::allocation_table(view.allocations, style_for(canvas, area)), view.allocations.size(), ui,
              canvas, area);
}

}  // namespace

void draw_allocations(const Model& model, const Ui& ui, Canvas& canvas, const Area& area) {
    if (!model.problem().empty()) {
        return put_note(canvas, area, model.problem());
    }
    if (const auto* groups = model.answer<view::GroupView>()) {
        return draw_groups(*groups, model, ui, canvas, area);
    }
    if (const auto* list = model.answer<view::AllocationView>()) {
        return draw_single_allocations(*list, model, ui, canvas, area);
    }
    put_note(canvas, area, kWaiting);
}

}  // namespace ttmem::tui
