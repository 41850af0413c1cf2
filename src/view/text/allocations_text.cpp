// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "view/text/format.hpp"
#include "view/text/parts.hpp"
#include "view/text/screens.hpp"
#include "view/text/tables.hpp"

namespace ttmem::view {

namespace {

using census::LiveAllocation;

std::string used_text(const LiveAllocation& live, const Style& style) {
    if (live.planned || live.view) {
        return live.planned ? "planned" : "view";
    }
    return fmt::format("{}{}", live.reserved_known ? "" : "~", format_bytes(live.used, style.bytes));
}

// Explains the marks of the USED column that the table has.
Text legend(const std::vector<LiveAllocation>& allocations) {
    const auto any = [&](auto matches) {
        return std::any_of(allocations.begin(), allocations.end(), matches);
    };
    Text text;
    if (any([](const LiveAllocation& live) { return live.planned; })) {
        text.add("planned: intercepted by a graph capture; uses no memory");
    }
    if (any([](const LiveAllocation& live) { return live.view; })) {
        text.add("view: lies in memory that another allocation owns; adds no bytes");
    }
    if (any([](const LiveAllocation& live) { return !live.reserved_known; })) {
        text.add("~: reserved size unknown; the requested bytes are shown");
    }
    return text.empty() ? text : Text().blank().add(text);
}

std::string name_text(const LiveAllocation& live) {
    std::string type = live.kernel_type ? fmt::format("({})", *live.kernel_type) : "";
    if (live.cb_type && *live.cb_type != "circular") {
        type = fmt::format("({})", *live.cb_type);
    }
    if (live.name.empty()) {
        return type.empty() ? "-" : type;
    }
    return live.name + (type.empty() ? "" : " " + type);
}

Text rows_of(const std::vector<LiveAllocation>& allocations, const Style& style) {
    Table table({bytes_column("USED", 0, style),
                 bytes_column("REQUESTED", 2, style),
                 {"KIND", kLeft, 0, 0, Column::KeptPart::beginning, 8},
                 {"DEV", kLeft, 0, 7},
                 {"ADDRESS", kRight, 0, 0, Column::KeptPart::beginning, 10},
                 pid_column(),
                 age_column("AGE", 1),
                 {"SET", kLeft, 3, 8},
                 {"NAME", kLeft, 0, 18, Column::KeptPart::end}});
    for (const LiveAllocation& live : allocations) {
        table.add({used_text(live, style), format_bytes(live.requested, style.bytes),
                   std::string(name_of(live.kind)), format_ids(live.devices),
                   live.address ? fmt::format("{:#x}", *live.address) : "-", std::to_string(live.pid),
                   format_age(live.age_ns), live.set.empty() ? "-" : live.set, name_text(live)});
    }
    return table.text(style);
}

}  // namespace

Text allocation_table(const std::vector<LiveAllocation>& allocations, const Style& style) {
    return rows_of(allocations, style).add(legend(allocations));
}

Text allocations_text(const AllocationView& view, const Style& style) {
    if (view.processes == 0) {
        return no_process_text(view.origin, view.inexact, view.hidden, style.bytes);
    }
    Text text;
    text.add(headline(view.origin, format_count(view.total, "live allocation", "live allocations"),
                      view.is_exact()));
    if (view.allocations.empty()) {
        return text.blank().add("No matching allocations.").add(end_of_list(view, style.bytes));
    }
    text.blank().add(rows_of(view.allocations, style));
    if (view.left_out != 0) {
        text.add(fmt::format("... and {} more{} ('--limit 0' shows all)", view.left_out,
                             view.sort == census::Sort::used ? ", none larger" : ""));
    }
    if (view.next) {
        text.add(fmt::format("Next page: --cursor {}", *view.next));
    }
    return text.add(legend(view.allocations)).add(end_of_list(view, style.bytes));
}

}  // namespace ttmem::view
