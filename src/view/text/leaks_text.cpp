// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "view/text/format.hpp"
#include "view/text/parts.hpp"
#include "view/text/screens.hpp"
#include "view/text/tables.hpp"

namespace ttmem::view {

namespace {

const char* verdict_text(LeakVerdict verdict) {
    switch (verdict) {
        case LeakVerdict::growing:
            return "growing";
        case LeakVerdict::program_cache:
            return "programs";
        case LeakVerdict::plateau:
            break;
    }
    return "plateau";
}

}  // namespace

std::string leaks_title(const LeakView& view) {
    if (view.marked == 0) {
        return "no process has enough marks";
    }
    const auto growing = std::count_if(view.leaks.begin(), view.leaks.end(), [](const NameLeak& leak) {
        return leak.verdict == LeakVerdict::growing;
    });
    const std::string text =
        growing == 0
            ? "no name grows from mark to mark"
            : format_count(static_cast<uint64_t>(growing), "name grows", "names grow") + " from mark to mark";
    return view.unmarked == 0 ? text
                              : text + fmt::format("; {} with too few marks",
                                                   format_count(view.unmarked, "process", "processes"));
}

Text leak_table(const std::vector<NameLeak>& leaks, const Style& style) {
    Table table({{"PER MARK"},
                 {"GROWN", kRight, 1},
                 {"NOW", kRight, 2},
                 {"MARKS"},
                 {"SINCE", kRight, 3},
                 {"FULL IN", kRight, 1},
                 {"VERDICT", kLeft},
                 {"KIND", kLeft},
                 {"PID", kRight, 4},
                 {"NAME", kLeft, 0, 20, Column::KeptPart::end}});
    for (const NameLeak& leak : leaks) {
        const bool is_growing = leak.verdict == LeakVerdict::growing;
        table.add({"+" + format_bytes(leak.per_mark(), style.bytes), format_bytes(leak.grown(), style.bytes),
                   format_bytes(leak.last, style.bytes), std::to_string(leak.marks),
                   format_age(leak.since_age_ns), leak.full_in_ns ? format_age(*leak.full_in_ns) : "-",
                   Line(verdict_text(leak.verdict), is_growing ? Tone::warn : Tone::plain),
                   std::string(name_of(leak.kind)), std::to_string(leak.pid),
                   leak.name.empty() ? "-" : leak.name});
    }
    return table.text(style);
}

Text leaks_text(const LeakView& view, const Style& style) {
    if (view.processes == 0) {
        return no_process_text(view.origin, view.inexact, view.hidden, style.bytes);
    }
    Text text;
    text.add(headline(view.origin, leaks_title(view), view.is_exact()));
    if (view.marked == 0) {
        text.add("A program marks a moment with ttmem_mark(\"step\"), three times or more;");
        text.add("'ttmem mark step' does it from outside ('ttmem leaks --host-marks').");
    }
    if (!view.leaks.empty()) {
        text.blank().add(leak_table(view.leaks, style));
    }
    if (view.left_out() != 0) {
        text.add(fmt::format("... and {} ('--limit 0' shows all)",
                             format_count(view.left_out(), "more name", "more names")));
    }
    if (view.cut_marks != 0) {
        text.add(fmt::format("{} had more names than fit; the others are left out",
                             format_count(view.cut_marks, "mark", "marks")));
    }
    text.blank().add("Bytes per device; a mesh allocation counts once.");
    return text.add(end_of_list(view, style.bytes));
}

}  // namespace ttmem::view
