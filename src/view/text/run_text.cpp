// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <string.h>

#include <algorithm>

#include "base/text.hpp"
#include "view/text/format.hpp"
#include "view/text/parts.hpp"
#include "view/text/screens.hpp"
#include "view/text/tables.hpp"

namespace ttmem::view {

namespace {

using census::Kind;

constexpr Kind kShown[] = {Kind::dram, Kind::l1, Kind::l1_small, Kind::trace, Kind::cb, Kind::kernel};

bool is_buffer(Kind kind) { return census::index_of(kind) < census::kPoolKinds; }

std::string end_text(const RunView& view) {
    if (view.signal) {
        const char* name = sigabbrev_np(*view.signal);
        return fmt::format("was ended by signal {} (SIG{})", *view.signal, name != nullptr ? name : "?");
    }
    return fmt::format("ended with exit code {}", view.exit_code.value_or(0));
}

Text peak_table(const RunView& view, const Style& style) {
    std::vector<Column> columns = {{"DEV"}, {"BOARD", kLeft, 3}};
    for (const char* title : {"DRAM", "L1", "L1_SMALL", "TRACE", "CB", "KERNEL"}) {
        columns.push_back({title});
    }
    Table table(std::move(columns));
    bool has_bound = false;
    for (const census::DeviceFigures& device : view.figures.devices) {
        std::vector<Line> row = {std::to_string(device.id), device.board.value_or("-")};
        for (const Kind kind : kShown) {
            const census::MemoryFigures& memory = device.memory[index_of(kind)];
            has_bound = has_bound || !memory.peak_exact;
            row.emplace_back((memory.peak_exact ? "" : ">=") + format_bytes(memory.peak, style.bytes));
        }
        table.add(std::move(row));
    }
    Text text = table.text(style);
    return has_bound ? text.add("  >= is a lower bound: several processes used the device at the same time")
                     : text;
}

Text leak_table(const RunView& view, const Style& style) {
    Table table({{"USED"}, {"COUNT"}, {"KIND", kLeft}, {"NAME", kLeft, 0, 20, Column::KeptPart::end}});
    for (const Leftover& left : view.left) {
        table.add({format_bytes(left.used, style.bytes), std::to_string(left.count),
                   Line(std::string(name_of(left.kind)), is_buffer(left.kind) ? Tone::warn : Tone::plain),
                   left.name.empty() ? "(no name)" : left.name});
    }
    return table.text(style);
}

Text limits_text(const RunView& view, const Style& style) {
    Text text;
    for (const UndecidedPeak& each : view.undecided) {
        const std::string most =
            each.at_most ? fmt::format(" and at most {}", format_bytes(*each.at_most, style.bytes)) : "";
        text.blank().add(
            Line(fmt::format("UNDECIDED: {} of device {} reached at least {}{}; the limit is {}",
                             name_of(each.kind), each.device, format_bytes(each.peak, style.bytes), most,
                             format_bytes(each.limit, style.bytes)),
                 Tone::bad));
        text.add(each.at_most ? "  (several processes used the device at the same time)"
                              : "  (the figures are inexact)");
    }
    for (const ExceededPeak& each : view.exceeded) {
        text.blank().add(Line(
            fmt::format("PEAK: {} of device {} reached {}; the limit is {}", name_of(each.kind), each.device,
                        prose_bytes(each.peak, style.bytes), prose_bytes(each.limit, style.bytes)),
            Tone::bad));
    }
    return text;
}

}  // namespace

bool RunView::has_leak() const {
    return std::any_of(left.begin(), left.end(), [](const Leftover& each) { return is_buffer(each.kind); });
}

Text run_text(const RunView& view, const Style& style) {
    std::vector<std::string> words;
    for (const std::string& word : view.command) {
        words.push_back(base::printable(word));
    }
    const std::string end =
        fmt::format("'{}' {} after {}", fmt::join(words, " "), end_text(view), format_age(view.lived_ns));
    Text text;
    if (!view.is_tracked()) {
        return text.add(end + "; no process was tracked:")
            .add("none opened a device, or its tt-metal can't be observed ('ttmem doctor' shows why)");
    }
    text.add(Line(fmt::format("{}; {} tracked, figures ", end,
                              format_count(view.figures.processes.size(), "process", "processes")))
                 .add(view.is_exact() ? "exact" : "inexact", view.is_exact() ? Tone::plain : Tone::warn));
    text.blank().add(Line("Peak", Tone::title).add(" per device:")).add(peak_table(view, style)).blank();
    if (view.left.empty()) {
        text.add("Nothing was left allocated at the end.");
    } else {
        text.add(Line("Still allocated", Tone::title)
                     .add(" at the end (bytes over all devices of each allocation):"));
        text.add(leak_table(view, style));
    }
    for (const census::FailureCounts& counts : view.failure_counts) {
        text.blank().add(Line("Failures", Tone::title)
                             .add(fmt::format(" in process {}: {}", counts.pid, count_text(counts))));
    }
    if (!view.failures.empty()) {
        text.add(failure_table(view.failures, style));
    }
    if (!view.missing_facts.empty()) {
        text.blank().add(fmt::format("This tt-metal does not give: {}", fmt::join(view.missing_facts, ", ")));
    }
    return text.add(inexact_text(view.figures.inexact)).add(limits_text(view, style));
}

}  // namespace ttmem::view
