// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "census/arithmetic.hpp"
#include "view/text/format.hpp"
#include "view/text/parts.hpp"
#include "view/text/screens.hpp"
#include "view/text/tables.hpp"

namespace ttmem::view {

namespace {

using census::Group;
using census::GroupBy;
using census::Kind;

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

std::vector<Kind> kinds_of(const std::vector<Group>& groups) {
    std::vector<Kind> kinds;
    for (size_t kind = 0; kind < census::kKinds; ++kind) {
        if (any(groups, [&](const Group& group) { return group.memory[kind].count != 0; })) {
            kinds.push_back(static_cast<Kind>(kind));
        }
    }
    return kinds;
}

// DRAM and L1 stay in a narrow terminal.
int rank_of(Kind kind) {
    return kind == Kind::dram || kind == Kind::l1 ? 0 : kind == Kind::cb || kind == Kind::kernel ? 3 : 4;
}

// One column per kind. In groups by kind each row has one kind, so one column suffices.
std::vector<Column> memory_columns(const std::vector<Kind>& kinds, GroupBy by, GroupSumsOver over) {
    if (by == GroupBy::kind || kinds.empty()) {
        return {{sum_title("USED", over)}};
    }
    std::vector<Column> columns;
    columns.reserve(kinds.size());
    for (const Kind kind : kinds) {
        columns.push_back({sum_title(kind_title(kind), over), kRight, kinds.size() == 1 ? 0 : rank_of(kind)});
    }
    return columns;
}

void add_memory(std::vector<Line>& row, const Group& group, const std::vector<Kind>& kinds, GroupBy by,
                const Style& style) {
    if (by == GroupBy::kind || kinds.empty()) {
        const Kind kind = group.kind.value_or(Kind::dram);
        row.emplace_back(format_bytes(group.memory[index_of(kind)].used, style.bytes));
        return;
    }
    for (const Kind kind : kinds) {
        const census::GroupMemory& memory = group.memory[index_of(kind)];
        row.emplace_back(memory.count == 0 ? "-" : format_bytes(memory.used, style.bytes));
    }
}

}  // namespace

Text group_table(const std::vector<Group>& groups, GroupBy by, GroupSumsOver over, const Style& style) {
    const bool has_pids = by != GroupBy::pid && any(groups, [](const Group& group) { return group.pid; });
    const bool has_planned = any(groups, [](const Group& group) { return group.planned != 0; });
    const bool has_views = any(groups, [](const Group& group) { return group.views != 0; });
    const std::vector<Kind> kinds = kinds_of(groups);
    std::vector<Column> columns = memory_columns(kinds, by, over);
    columns.push_back({"COUNT"});
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
        std::vector<Line> row;
        add_memory(row, group, kinds, by, style);
        row.emplace_back(std::to_string(group.count));
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

std::string kind_title(Kind kind) {
    std::string title(name_of(kind));
    std::transform(title.begin(), title.end(), title.begin(),
                   [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
    return title;
}

std::string sum_title(const std::string& title, GroupSumsOver over) {
    return over == GroupSumsOver::all_devices ? title + " SUM" : title;
}

GroupSumsOver sums_of(const GroupView& view) {
    return view.is_per_device() ? GroupSumsOver::one_device : GroupSumsOver::all_devices;
}

std::string sums_text(const std::vector<Group>& groups) {
    std::string text;
    for (const Kind kind : kinds_of(groups)) {
        uint64_t sum = 0;
        for (const Group& group : groups) {
            sum = census::saturating_add(sum, group.memory[index_of(kind)].used);
        }
        text += fmt::format("{}{} of {}", text.empty() ? "" : ", ", format_bytes(sum), name_of(kind));
    }
    return text.empty() ? format_bytes(0) : text;
}

Text groups_text(const GroupView& view, const Style& style) {
    if (view.processes == 0) {
        return no_process_text(view.origin, view.inexact, view.hidden, style.bytes);
    }
    const std::string what =
        fmt::format("{} in {} by {}", format_count(view.allocations, "live allocation", "live allocations"),
                    format_count(view.total, "group", "groups"), name_of(view.group));
    Text text;
    text.add(headline(view.origin, what, view.is_exact())).blank();
    if (view.groups.empty()) {
        return text.add("No matching allocations.").add(end_of_list(view, style.bytes));
    }
    text.add(group_table(view.groups, view.group, sums_of(view), style));
    if (view.left_out() != 0) {
        text.add(fmt::format("... and {}, none larger ('--limit 0' shows all)",
                             format_count(view.left_out(), "more group", "more groups")));
    }
    if (view.ungrouped != 0) {
        text.add(fmt::format("... and {} not grouped: too many groups",
                             format_count(view.ungrouped, "allocation", "allocations")));
    }
    text.blank().add(view.device ? fmt::format("Bytes on device {}.", *view.device)
                     : view.is_per_device()
                         ? "Bytes on that device."
                         : fmt::format("SUM: bytes over {}; a mesh allocation counts on each of them.",
                                       view.devices.empty() ? "all devices" : format_devices(view.devices)));
    return text.add(end_of_list(view, style.bytes));
}

}  // namespace ttmem::view
