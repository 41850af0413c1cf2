// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <string.h>

#include <algorithm>

#include "base/text.hpp"
#include "view/format.hpp"
#include "view/run.hpp"
#include "view/text_parts.hpp"
#include "view/text_tables.hpp"

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

std::string peak_table(const RunView& view, const Style& style) {
    std::vector<Column> columns = {{"DEV"}, {"BOARD", kLeft, 3}};
    for (const char* title : {"DRAM", "L1", "L1_SMALL", "TRACE", "CB", "KERNEL"}) {
        columns.push_back({title});
    }
    Table table(std::move(columns));
    bool has_bound = false;
    for (const census::DeviceFigures& device : view.figures.devices) {
        std::vector<Cell> row = {std::to_string(device.id), device.board.value_or("-")};
        for (const Kind kind : kShown) {
            const census::MemoryFigures& memory = device.memory[index_of(kind)];
            has_bound = has_bound || !memory.peak_exact;
            row.emplace_back((memory.peak_exact ? "" : ">=") + format_bytes(memory.peak, style.bytes));
        }
        table.add(std::move(row));
    }
    return table.text(style) +
           (has_bound ? "  >= is a lower bound: several allocators had the device at once\n" : "");
}

std::string left_table(const RunView& view, const Style& style) {
    Table table({{"USED"}, {"COUNT"}, {"KIND", kLeft}, {"NAME", kLeft, 0, 20, Column::Keep::end}});
    for (const LeftBehind& left : view.left) {
        table.add({format_bytes(left.used, style.bytes), std::to_string(left.count),
                   Cell(std::string(name_of(left.kind)), is_buffer(left.kind) ? Tone::warn : Tone::plain),
                   left.name.empty() ? "(without a name)" : left.name});
    }
    return table.text(style);
}

std::string verdicts(const RunView& view, const Style& style) {
    std::string text;
    for (const Exceeded& each : view.exceeded) {
        text += coloured(fmt::format("\nPEAK: {} of device {} reached {}, and {} is the limit\n",
                                     name_of(each.kind), each.device, format_bytes(each.peak, style.bytes),
                                     format_bytes(each.limit, style.bytes)),
                         Tone::bad, style);
    }
    return text;
}

}  // namespace

bool RunView::has_leak() const {
    return std::any_of(left.begin(), left.end(), [](const LeftBehind& each) { return is_buffer(each.kind); });
}

std::string run_text(const RunView& view, const Style& style) {
    std::vector<std::string> words;
    for (const std::string& word : view.command) {
        words.push_back(base::printable(word));
    }
    const size_t tracked = view.figures.processes.size();
    std::string text =
        fmt::format("'{}' {} after {}", fmt::join(words, " "), end_text(view), format_age(view.lived_ns));
    if (tracked == 0) {
        return text +
               "; no process of it was tracked:\nnone has opened a device, or its tt-metal can't be observed "
               "('ttmem doctor' tells)\n";
    }
    text += fmt::format("; {} tracked, figures {}\n", format_count(tracked, "process", "processes"),
                        view.is_exact() ? "exact" : coloured("inexact", Tone::warn, style));
    text +=
        fmt::format("\n{}, by device:\n{}", coloured("Peak", Tone::title, style), peak_table(view, style));
    if (view.left.empty()) {
        text += "\nNothing was left allocated at the end.\n";
    } else {
        text += fmt::format("\n{} at the end, bytes on each device of an allocation:\n{}",
                            coloured("Still allocated", Tone::title, style), left_table(view, style));
    }
    for (const census::FailureCounts& counts : view.failure_counts) {
        text += fmt::format("\n{} in process {}: {}\n", coloured("Failures", Tone::title, style), counts.pid,
                            count_text(counts));
    }
    if (!view.failures.empty()) {
        text += failure_table(view.failures, style);
    }
    return text + inexact_text(view.figures.inexact, style) + verdicts(view, style);
}

}  // namespace ttmem::view
