// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "view/text/format.hpp"
#include "view/text/parts.hpp"
#include "view/text/screens.hpp"
#include "view/text/tables.hpp"

namespace ttmem::view {

Text growth_table(const std::vector<NameGrowth>& names, const Style& style) {
    Table table({{"GROWN"},
                 {"BEFORE", kRight, 1},
                 {"NOW"},
                 {"KIND", kLeft},
                 {"NAME", kLeft, 0, 30, Column::KeptPart::end}});
    for (const NameGrowth& name : names) {
        const std::string sign = name.grown() > 0 ? "+" : "";
        table.add({sign + format_signed_bytes(name.grown(), style.bytes),
                   format_bytes(name.before, style.bytes), format_bytes(name.now, style.bytes),
                   std::string(name_of(name.kind)), name.name.empty() ? "-" : name.name});
    }
    return table.text(style);
}

std::string growth_title(const GrowthView& view) {
    std::string text = format_count(view.total, "name has changed", "names have changed");
    text += view.span_ns == 0 ? "" : fmt::format(" in the last {}", format_age(view.span_ns));
    return view.unsampled == 0 ? text
                               : text + fmt::format("; {} not sampled yet",
                                                    format_count(view.unsampled, "process", "processes"));
}

Text growth_text(const GrowthView& view, const Style& style) {
    if (view.processes == 0) {
        return no_process_text(view.origin, view.inexact, view.hidden, style.bytes);
    }
    Text text;
    text.add(headline(view.origin, growth_title(view), view.is_exact()));
    if (!view.names.empty()) {
        text.blank().add(growth_table(view.names, style));
    }
    if (view.left_out() != 0) {
        text.add(fmt::format("... and {}, none of which grew more ('--limit 0' shows all)",
                             format_count(view.left_out(), "more name", "more names")));
    }
    text.blank().add("Bytes per device; a mesh allocation counts once.");
    return text.add(end_of_list(view, style.bytes));
}

}  // namespace ttmem::view
