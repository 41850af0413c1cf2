// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "view/text/format.hpp"
#include "view/text/screens.hpp"
#include "view/text/tables.hpp"

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

// A card has the holders as they were.
bool has_card_of(const FailureView& view, const HoldersView& holders) {
    return std::any_of(view.failures.begin(), view.failures.end(),
                       [&](const census::FailureFigures& failure) {
                           return failure.card && failure.kind == holders.kind && !failure.devices.empty() &&
                                  failure.devices.front() == holders.device;
                       });
}

// The newest card, in full.
Text newest_card(const FailureView& view, const Style& style) {
    for (size_t i = 0; i < view.failures.size(); ++i) {
        if (view.failures[i].card) {
            return Text().blank().add(
                card_text(view.failures[i], fmt::format("Card of failure {}", i + 1), style));
        }
    }
    return {};
}

// The rows of a table of failures: below its titles, and from the line where it begins.
void add_rows(std::vector<size_t>& lines, size_t table, size_t rows) {
    for (size_t row = 0; row < rows; ++row) {
        lines.push_back(table + 1 + row);
    }
}

// Failures of processes that have ended, whose cards the daemon keeps.
Text kept_text(const KeptCards& kept, bool shows_card, const Style& style, size_t& table) {
    Text text;
    table = 0;
    if (!kept.newest_first.empty()) {
        std::vector<census::FailureFigures> failures;
        for (const KeptCard& card : kept.newest_first) {
            failures.push_back(card.failure);
        }
        text.blank().add(Line("Processes that have ended", Tone::title)
                             .add(fmt::format(" ({} kept)", format_count(kept.total, "card", "cards"))));
        table = text.size();
        text.add(failure_table(failures, style));
        if (shows_card) {
            text.blank().add(card_text(failures.front(), "Card of failure 1", style));
        }
    }
    if (kept.lost != 0) {
        text.blank().add(
            Line(fmt::format("{} lost: {}", format_count(kept.lost, "card was", "cards were"), kept.problem),
                 Tone::warn));
    }
    return text;
}

// What would have made the requests of these failures fit.
Text fixes_of(const std::vector<census::FailureFigures>& failures, const Style& style) {
    Text text;
    for (size_t i = 0; i < failures.size(); ++i) {
        const census::FailureFigures& failure = failures[i];
        if (failure.card) {
            const std::string amount =
                failure.short_by ? ", short by " + prose_bytes(*failure.short_by, style.bytes) : "";
            text.blank()
                .add(Line(fmt::format("Failure {}", i + 1), Tone::title)
                         .add(fmt::format(": {}{}", name_of(failure.verdict), amount)))
                .add(fix_text(*failure.card, style));
        }
    }
    return text;
}

}  // namespace

Text fixes_text(const WhyView& view, const Style& style) {
    Text text = failures_text(view.failures, style).add(fixes_of(view.failures.failures, style));
    if (view.kept.newest_first.empty()) {
        return text;
    }
    std::vector<census::FailureFigures> kept;
    for (const KeptCard& card : view.kept.newest_first) {
        kept.push_back(card.failure);
    }
    return text.blank()
        .add(Line("Processes that have ended", Tone::title))
        .add(failure_table(kept, style))
        .add(fixes_of(kept, style));
}

WhyLines why_lines(const WhyView& view, const Style& style) {
    WhyLines result;
    Text& text = result.text;
    text = failures_text(view.failures, style);
    // Below the line of the host and a blank one.
    add_rows(result.failures, 2, view.failures.failures.size());
    text.add(newest_card(view.failures, style));
    for (const HoldersView& holders : view.holders) {
        if (!has_card_of(view.failures, holders)) {
            text.add(holders_table(holders, style));
        }
    }
    size_t table = 0;
    const Text kept = kept_text(view.kept, newest_card(view.failures, style).empty(), style, table);
    add_rows(result.failures, text.size() + table, view.kept.newest_first.size());
    text.add(kept);
    return result;
}

Text why_text(const WhyView& view, const Style& style) { return why_lines(view, style).text; }

}  // namespace ttmem::view
