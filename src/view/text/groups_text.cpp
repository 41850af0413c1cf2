// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "view/text/format.hpp"
#include "view/text/parts.hpp"
#include "view/text/screens.hpp"
#include "view/text/tables.hpp"

namespace ttmem::view {

namespace {

using census::Group;
using census::GroupBy;

Column key_column(GroupBy by) {
    switch (by) {
        case GroupBy::name:
            return {"NAME", kLeft, 0, 30, Column::KeptPart::end};
        case GroupBy::scope:
            return {"SCOPE", kLeft, 0, 30, Column::KeptPart::end};
        case GroupBy::kind:
            return {"KIND", kLeft};
        case GroupBy::pid:
            return {"PID"};
        case GroupBy::device:
            return {"DEV"};
        case GroupBy::set:
            return {"SET", kLeft, 0, 8};
        case GroupBy::thread:
            return {"THREAD"};
        case GroupBy::owner:
            return {"OWNER"};
        case GroupBy::age:
            return {"AGE", kLeft};
    }
    return {"KEY"};
}

bool any(const std::vector<Group>& groups, auto has) {
    return std::any_of(groups.begin(), groups.end(), has);
}

}  // namespace

Text group_table(const std::vector<Group>& groups, GroupBy by, const Style& style) {
    const bool has_pids = by != GroupBy::pid && any(groups, [](const Group& group) { return group.pid; });
    const bool has_planned = any(groups, [](const Group& group) { return group.planned != 0; });
    const bool has_views = any(groups, [](const Group& group) { return group.views != 0; });
    std::vector<Column> columns = {{"USED"}, {"REQUESTED", kRight, 4}, {"COUNT"}};
    if (has_planned) {
        columns.push_back({"PLANNED", kRight, 5});
    }
    if (has_views) {
        columns.push_back({"VIEWS", kRight, 6});
    }
    columns.push_back({"LARGEST", kRight, 2});
    columns.push_back({"OLDEST", kRight, 1});
    if (has_pids) {
        columns.push_back({"PID"});
    }
    columns.push_back(key_column(by));
    Table table(std::move(columns));
    for (const Group& group : groups) {
        std::vector<Line> row = {format_bytes(group.used, style.bytes),
                                 format_bytes(group.requested, style.bytes), std::to_string(group.count)};
        if (has_planned) {
            row.emplace_back(std::to_string(group.planned));
        }
        if (has_views) {
            row.emplace_back(std::to_string(group.views));
        }
        row.emplace_back(format_bytes(group.largest, style.bytes));
        row.emplace_back(format_age(group.oldest_age_ns));
        if (has_pids) {
            row.emplace_back(group.pid ? std::to_string(*group.pid) : "-");
        }
        row.emplace_back(group.key.empty() ? "-" : group.key);
        table.add(std::move(row));
    }
    return table.text(style);
}

Text groups_text(const GroupView& view, const Style& style) {
    if (view.processes == 0) {
        return no_process_text(view.origin, view.inexact);
    }
    const std::string what =
        fmt::format("{} in {} by {}", format_count(view.allocations, "live allocation", "live allocations"),
                    format_count(view.total, "group", "groups"), name_of(view.group));
    Text text;
    text.add(headline(view.origin, what, view.is_exact())).blank();
    if (view.groups.empty()) {
        return text.add("No matching allocations.").add(inexact_text(view.inexact));
    }
    text.add(group_table(view.groups, view.group, style));
    if (view.left_out() != 0) {
        text.add(fmt::format("... and {}, none larger ('--limit 0' shows all)",
                             format_count(view.left_out(), "more group", "more groups")));
    }
    if (view.ungrouped != 0) {
        text.add(fmt::format("... and {} not grouped: too many groups",
                             format_count(view.ungrouped, "allocation", "allocations")));
    }
    text.blank().add(view.group == GroupBy::device ? "Bytes on that device."
                                                   : "Bytes per device; a mesh allocation counts once.");
    return text.add(inexact_text(view.inexact));
}

}  // namespace ttmem::view
