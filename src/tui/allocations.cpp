// SPDX-License-Identifier: Apache-2.0

// Live allocations, as a list or in groups, all of them or only those after a mark.

#include <fmt/format.h>

#include <algorithm>

#include "tui/lists.hpp"
#include "tui/screens.hpp"
#include "view/text/format.hpp"
#include "view/text/parts.hpp"
#include "view/text/tables.hpp"

namespace ttmem::tui {

namespace {

// ", all devices, process 4711 only, dram only".
std::string filters_text(const Model& model, const Ui& ui) {
    const census::DeviceFigures* device = chosen_device(model, ui);
    std::string text =
        ui.all_devices || device == nullptr ? ", all devices" : fmt::format(", device {}", device->id);
    text += ui.pid ? fmt::format(", process {} only", *ui.pid) : "";
    return text + (ui.kind ? fmt::format(", {} only", census::name_of(*ui.kind)) : "");
}

std::string name_filter_text(const Ui& ui) {
    return ui.filter().empty() ? "" : fmt::format(", name contains '{}'", ui.filter());
}

// "Since the mark 12s ago: 14 live allocations in 3 groups by name, all devices, process 4711 only, name contains 'kv'".
std::string title_of_list(const Model& model, const Ui& ui, const std::string& what) {
    std::string text =
        ui.mark_ns ? fmt::format("Since the mark {} ago: ",
                                 view::format_age(model.now_ns() - std::min(model.now_ns(), ui.mark_time_ns)))
                   : "";
    text += what + filters_text(model, ui);
    text += ui.sort != census::Sort::used ? fmt::format(", by {}", census::name_of(ui.sort)) : "";
    text += ui.is_reverse() ? ", reversed" : "";
    return text + name_filter_text(ui);
}

struct TitledTable {
    std::string title;
    view::Text table;
    size_t rows = 0;
    view::Hidden hidden;
    const char* empty_note = "No matching allocations.";
};

void draw_list(const TitledTable& shown, const Model& model, const Ui& ui, Canvas& canvas, const Area& area) {
    canvas.put(area.row, area.column, view::cut_end(shown.title, static_cast<size_t>(area.columns)),
               CellStyle::title);
    Area list = area.below(1);
    const std::string not_listed = view::hidden_line(shown.hidden);
    if (shown.rows == 0) {
        return put_note(canvas, list, view::empty_list_text(shown.empty_note, not_listed));
    }
    if (!not_listed.empty()) {
        canvas.put(list.row, list.column, "Not listed: " + not_listed + ".", CellStyle::warn, list.columns);
        list = list.below(1);
    }
    put_list(canvas, list, shown.table, shown.rows, selected_row(model, ui));
}

void draw_groups(const view::GroupView& view, const Model& model, const Ui& ui, Canvas& canvas,
                 const Area& area) {
    std::string what = fmt::format(
        "{} in {} by {}", view::format_count(view.allocations, "live allocation", "live allocations"),
        view::format_count(view.total, "group", "groups"), census::name_of(view.group));
    if (ui.mark_ns && view.left_out() == 0) {
        what += fmt::format(", {} more", view::sums_text(view.groups));
    }
    draw_list({title_of_list(model, ui, what),
               view::group_table(view.groups, view.group, view::sums_of(view), style_for(canvas, area)),
               view.groups.size(), view.hidden},
              model, ui, canvas, area);
}

void draw_tree(const view::GroupView& view, const Model& model, const Ui& ui, Canvas& canvas,
               const Area& area) {
    std::vector<census::Group> groups;
    for (const ScopeRow& row : listed_scopes(model, ui)) {
        groups.push_back(row.sums);
        const std::string mark = !row.has_children ? "  " : row.is_closed ? "+ " : "- ";
        groups.back().key =
            std::string(2 * row.depth, ' ') + mark + (row.path.empty() ? "(no name)" : row.sums.key);
    }
    std::string what =
        fmt::format("{} in a tree of scopes",
                    view::format_count(view.allocations, "live allocation", "live allocations"));
    if (view.left_out() != 0) {
        what += fmt::format(", without {}", view::format_count(view.left_out(), "small name", "small names"));
    }
    draw_list({title_of_list(model, ui, what),
               view::group_table(groups, census::GroupBy::name, view::sums_of(view), style_for(canvas, area)),
               groups.size(), view.hidden},
              model, ui, canvas, area);
}

void draw_single_allocations(const view::AllocationView& view, const Model& model, const Ui& ui,
                             Canvas& canvas, const Area& area) {
    const std::string what = view::format_count(view.total, "live allocation", "live allocations");
    draw_list(
        {title_of_list(model, ui, what), view::allocation_table(view.allocations, style_for(canvas, area)),
         view.allocations.size(), view.hidden},
        model, ui, canvas, area);
}

void draw_growth(const view::GrowthView& view, const Model& model, const Ui& ui, Canvas& canvas,
                 const Area& area) {
    std::vector<view::NameGrowth> names;
    for (const view::NameGrowth* name : listed_growth(model, ui)) {
        names.push_back(*name);
    }
    const std::string title = view::growth_title(view) + filters_text(model, ui) + name_filter_text(ui);
    draw_list({title, view::growth_table(names, style_for(canvas, area)), names.size(), view.hidden,
               "Nothing has grown or shrunk."},
              model, ui, canvas, area);
}

void draw_leaks(const view::LeakView& view, const Model& model, const Ui& ui, Canvas& canvas,
                const Area& area) {
    std::vector<view::NameLeak> leaks;
    for (const view::NameLeak* leak : listed_leaks(model, ui)) {
        leaks.push_back(*leak);
    }
    const std::string title = view::leaks_title(view) + filters_text(model, ui) + name_filter_text(ui);
    draw_list({title, view::leak_table(leaks, style_for(canvas, area)), leaks.size(), view.hidden,
               view.marked == 0 ? "A program marks its steps with ttmem_mark(\"step\"), three times or more."
                                : "No name grows."},
              model, ui, canvas, area);
}

}  // namespace

void draw_allocations(const Model& model, const Ui& ui, Canvas& canvas, const Area& area) {
    if (!model.problem().empty()) {
        return put_note(canvas, area, model.problem());
    }
    if (const auto* growth = model.answer<view::GrowthView>();
        growth != nullptr && ui.growth == ShownGrowth::last_minute) {
        return draw_growth(*growth, model, ui, canvas, area);
    }
    if (const auto* leaks = model.answer<view::LeakView>();
        leaks != nullptr && ui.growth == ShownGrowth::at_marks) {
        return draw_leaks(*leaks, model, ui, canvas, area);
    }
    if (const auto* groups = model.answer<view::GroupView>();
        groups != nullptr && ui.group && ui.growth == ShownGrowth::none) {
        return ui.tree && ui.group == census::GroupBy::name && groups->group == census::GroupBy::name
                   ? draw_tree(*groups, model, ui, canvas, area)
                   : draw_groups(*groups, model, ui, canvas, area);
    }
    if (const auto* list = model.answer<view::AllocationView>();
        list != nullptr && !ui.group && ui.growth == ShownGrowth::none) {
        return draw_single_allocations(*list, model, ui, canvas, area);
    }
    put_note(canvas, area, kWaiting);
}

}  // namespace ttmem::tui
