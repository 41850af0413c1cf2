// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "view/format.hpp"
#include "view/text.hpp"
#include "view/text_parts.hpp"

namespace ttmem::view {

namespace {

std::string holders_table(const HoldersView& holders, const Style& style) {
    Table table({{"USED"}, {"COUNT"}, {"OLDEST"}, {"WHO", kLeft, 0, 20, Column::Keep::end}});
    const auto add = [&](const census::Group& group, const std::string& who) {
        table.add({format_bytes(group.used, style.bytes), std::to_string(group.count),
                   format_age(group.oldest_age_ns), who});
    };
    for (const census::Group& group : holders.by_process) {
        add(group, "process " + group.key);
    }
    for (const census::Group& group : holders.by_name) {
        add(group, group.key.empty() ? "(without a name)" : group.key);
    }
    return fmt::format(
        "\n{}, now: by process, then by name\n{}",
        coloured(fmt::format("Who holds {} of device {}", name_of(holders.kind), holders.device), Tone::title,
                 style),
        table.text(style));
}

}  // namespace

std::string why_text(const WhyView& view, const Style& style) {
    std::string text = failures_text(view.failures, style);
    for (const HoldersView& holders : view.holders) {
        text += holders_table(holders, style);
    }
    return text;
}

}  // namespace ttmem::view
