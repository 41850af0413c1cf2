// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "view/format.hpp"
#include "view/text.hpp"
#include "view/text_parts.hpp"
#include "view/text_tables.hpp"

namespace ttmem::view {

namespace {

using census::LiveAllocation;

std::string used_text(const LiveAllocation& live, const Style& style) {
    if (live.planned || live.view) {
        return live.planned ? "planned" : "view";
    }
    return fmt::format("{}{}", live.reserved_known ? "" : "~", format_bytes(live.used, style.bytes));
}

// What adds no bytes, and what is only an estimate, says so in its line; below the table stands what that means.
std::string legend(const std::vector<LiveAllocation>& allocations) {
    const auto any = [&](auto matches) {
        return std::any_of(allocations.begin(), allocations.end(), matches);
    };
    std::string text;
    if (any([](const LiveAllocation& live) { return live.planned; })) {
        text += "planned: hooked by a graph capture, takes nothing\n";
    }
    if (any([](const LiveAllocation& live) { return live.view; })) {
        text += "view: on memory that another allocation owns, takes nothing\n";
    }
    if (any([](const LiveAllocation& live) { return !live.reserved_known; })) {
        text += "~: reserved size unknown, the requested bytes\n";
    }
    return text.empty() ? text : fmt::format("\n{}", text);
}

std::string name_text(const LiveAllocation& live) {
    const std::string type = live.kernel_type ? fmt::format("({})", *live.kernel_type) : "";
    if (live.name.empty()) {
        return type.empty() ? "-" : type;
    }
    return live.name + (type.empty() ? "" : " " + type);
}

std::string rows_of(const std::vector<LiveAllocation>& allocations, const Style& style) {
    Table table({{"USED"},
                 {"REQUESTED", kRight, 2},
                 {"KIND", kLeft},
                 {"DEV", kLeft, 0, 7},
                 {"ADDRESS"},
                 {"PID"},
                 {"AGE", kRight, 1},
                 {"SET", kLeft, 3, 8},
                 {"NAME", kLeft, 0, 18, Column::Keep::end}});
    for (const LiveAllocation& live : allocations) {
        table.add({used_text(live, style), format_bytes(live.requested, style.bytes),
                   std::string(name_of(live.kind)), format_ids(live.devices),
                   live.address ? fmt::format("{:#x}", *live.address) : "-", std::to_string(live.pid),
                   format_age(live.age_ns), live.set.empty() ? "-" : live.set, name_text(live)});
    }
    return table.text(style);
}

}  // namespace

std::string allocation_table(const std::vector<LiveAllocation>& allocations, const Style& style) {
    return rows_of(allocations, style) + legend(allocations);
}

std::string allocations_text(const AllocationView& view, const Style& style) {
    if (view.processes == 0) {
        return nobody_text(view.origin, view.inexact, style);
    }
    std::string text = headline(view.origin, format_count(view.total, "live allocation", "live allocations"),
                                view.is_exact(), style);
    if (view.allocations.empty()) {
        return text + "\nNothing that was asked for is live.\n" + inexact_text(view.inexact, style);
    }
    text += fmt::format("\n{}", rows_of(view.allocations, style));
    if (view.left_out != 0) {
        text += fmt::format("... and {} more{} ('--limit 0' shows all)\n", view.left_out,
                            view.sort == census::Sort::used ? ", not larger" : "");
    }
    if (view.next) {
        text += fmt::format("the next page: --cursor {}\n", *view.next);
    }
    return text + legend(view.allocations) + inexact_text(view.inexact, style);
}

}  // namespace ttmem::view
