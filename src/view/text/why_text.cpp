// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "view/text/format.hpp"
#include "view/text/screens.hpp"

namespace ttmem::view {

namespace {

Text holders_table(const HoldersView& holders, const Style& style) {
    Table table({{"USED"}, {"COUNT"}, {"OLDEST"}, {"HOLDER", kLeft, 0, 20, Column::KeptPart::end}});
    const auto add = [&](const census::Group& group, const std::string& holder) {
        table.add({format_bytes(group.memory[index_of(holders.kind)].used, style.bytes),
                   std::to_string(group.count), format_age(group.oldest_age_ns), holder});
    };
    for (const census::Group& group : holders.by_process) {
        add(group, "process " + group.key);
    }
    for (const census::Group& group : holders.by_name) {
        add(group, group.key.empty() ? "(no name)" : group.key);
    }
    const std::string title =
        fmt::format("Holders of {} on device {} now", name_of(holders.kind), holders.device);
    return Text()
        .blank()
        .add(Line(title, Tone::title).add(", by process, then by name"))
        .add(table.text(style));
}

}  // namespace

Text why_text(const WhyView& view, const Style& style) {
    Text text = failures_text(view.failures, style);
    for (const HoldersView& holders : view.holders) {
        text.add(holders_table(holders, style));
    }
    return text;
}

}  // namespace ttmem::view
