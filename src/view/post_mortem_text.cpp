// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "census/arithmetic.hpp"
#include "view/format.hpp"
#include "view/text.hpp"
#include "view/text_parts.hpp"
#include "view/text_tables.hpp"

namespace ttmem::view {

namespace {

using census::Kind;
using census::PostMortem;
using census::PostMortemSummary;

uint64_t difference(uint64_t later_ns, uint64_t earlier_ns) {
    return later_ns > earlier_ns ? later_ns - earlier_ns : 0;
}

std::vector<uint32_t> ids_of(const PostMortemSummary& summary) {
    std::vector<uint32_t> ids;
    for (const census::HeldOnDevice& device : summary.process.devices) {
        ids.push_back(device.id);
    }
    return ids;
}

// On all its devices together.
uint64_t held(const PostMortemSummary& summary, Kind kind) {
    uint64_t sum = 0;
    for (const census::HeldOnDevice& device : summary.process.devices) {
        sum = census::saturating_add(sum, device.memory[index_of(kind)].used);
    }
    return sum;
}

std::string in_flight_text(const PostMortem& found) {
    if (found.in_flight.empty()) {
        return "\nNo event was in flight when it died.\n";
    }
    std::string text = "\nIn flight when it died, and therefore in doubt:\n";
    for (const census::InFlight& event : found.in_flight) {
        const bool allocates = event.event == "allocate";
        text += fmt::format("  thread {}: {}, {} the figures\n", event.thread,
                            allocates ? "an allocation" : "a free",
                            event.is_in_ledger ? "already in" : "not yet in");
    }
    return text;
}

}  // namespace

std::string post_mortems_text(const PostMortemListView& view, const Style& style) {
    std::string text = fmt::format(
        "{}: {}\n", coloured(view.origin.host, Tone::title, style),
        view.post_mortems.empty() ? "no post-mortem"
                                  : format_count(view.post_mortems.size(), "post-mortem", "post-mortems"));
    if (view.post_mortems.empty()) {
        text +=
            "\nNo tracked process has died while the daemon watched. When one does, what it\n"
            "held is kept here.\n";
        return text;
    }
    Table table({{"DIED"},
                 {"PID"},
                 {"USER", kLeft, 0, 5},
                 {"COMMAND", kLeft, 0, 10},
                 {"DEV", kLeft, 0, 5},
                 {"DRAM"},
                 {"L1"},
                 {"CB", kRight, 4},
                 {"KERNEL", kRight, 5},
                 {"COUNT"},
                 {"FAILURES", kRight, 2},
                 {"EXACT", kLeft}});
    for (const PostMortemSummary& summary : view.post_mortems) {
        std::vector<Cell> row = {format_age(difference(view.origin.time_ns, summary.died_ns)),
                                 std::to_string(summary.process.pid), summary.process.user,
                                 summary.process.comm, format_ids(ids_of(summary))};
        for (const Kind kind : {Kind::dram, Kind::l1, Kind::cb, Kind::kernel}) {
            row.emplace_back(format_bytes(held(summary, kind), style.bytes));
        }
        row.emplace_back(std::to_string(summary.allocations));
        row.emplace_back(std::to_string(summary.failures));
        row.emplace_back(summary.exact ? "yes" : "no", summary.exact ? Tone::plain : Tone::warn);
        table.add(std::move(row));
    }
    text += fmt::format("\n{}", table.text(style));
    if (view.dropped != 0) {
        text += fmt::format("... and {} that {} no longer kept\n", view.dropped,
                            view.dropped == 1 ? "is" : "are");
    }
    return text +
           "\nUsed bytes when it died, on all its devices together. 'ttmem post-mortem PID'\n"
           "tells more about one.\n";
}

std::string post_mortem_text(const PostMortemView& view, const Style& style) {
    const PostMortem& found = view.post_mortem;
    const PostMortemSummary& summary = found.summary;
    const census::ProcessFigures& process = summary.process;
    std::string text =
        headline(view.origin,
                 fmt::format("process {} ({}) of {} died {} ago", process.pid, process.comm, process.user,
                             format_age(difference(view.origin.time_ns, summary.died_ns))),
                 summary.exact, style);
    text += fmt::format(
        "\nIt lived {} and held {}", format_age(difference(summary.died_ns, process.start_time_ns)),
        summary.allocations == 0 ? std::string("nothing.")
                                 : format_count(summary.allocations, "allocation", "allocations"));
    text += summary.allocations == 0
                ? "\n"
                : fmt::format(" on {} {}.\n", process.devices.size() == 1 ? "device" : "devices",
                              format_ids(ids_of(summary)));
    if (!found.by_kind.empty()) {
        text += fmt::format("\nBy kind, bytes on each device of an allocation:\n{}",
                            group_table(found.by_kind, census::GroupBy::kind, style));
    }
    if (!found.by_name.empty()) {
        text += fmt::format("\nBy name, {} of {}:\n{}", found.by_name.size(), found.names,
                            group_table(found.by_name, census::GroupBy::name, style));
    }
    if (!found.largest.empty()) {
        text += fmt::format("\nThe largest, with their age when it died:\n{}",
                            allocation_table(found.largest, style));
    }
    if (found.failure_counts.sum() != 0) {
        text += fmt::format("\nBefore that: {}\n{}", count_text(found.failure_counts),
                            found.failures.empty() ? "" : failure_table(found.failures, style));
    }
    return text + in_flight_text(found) + inexact_text(found.inexact, style);
}

}  // namespace ttmem::view
