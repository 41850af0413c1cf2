// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "census/arithmetic.hpp"
#include "view/text/format.hpp"
#include "view/text/parts.hpp"
#include "view/text/screens.hpp"
#include "view/text/tables.hpp"

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
    for (const census::DeviceHoldings& device : summary.process.devices) {
        ids.push_back(device.id);
    }
    return ids;
}

// Summed over its devices.
uint64_t used_on_all_devices(const PostMortemSummary& summary, Kind kind) {
    uint64_t sum = 0;
    for (const census::DeviceHoldings& device : summary.process.devices) {
        sum = census::saturating_add(sum, device.memory[index_of(kind)].used);
    }
    return sum;
}

Text in_flight_text(const PostMortem& found) {
    Text text;
    text.blank();
    if (found.in_flight.empty()) {
        return text.add("No event was in flight when it died.");
    }
    text.add("In flight when it died; these may or may not have taken effect:");
    for (const census::EventInFlight& event : found.in_flight) {
        const bool allocates = event.action == census::ActionInFlight::allocate;
        text.add(fmt::format("  thread {}: {}, {} in the figures", event.thread,
                             allocates ? "an allocation" : "a free",
                             event.is_in_ledger ? "already" : "not yet"));
    }
    return text;
}

}  // namespace

Text post_mortem_table(const PostMortemListView& view, const Style& style) {
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
        std::vector<Line> row = {format_age(difference(view.origin.time_ns, summary.died_ns)),
                                 std::to_string(summary.process.pid), summary.process.user,
                                 summary.process.comm, format_ids(ids_of(summary))};
        for (const Kind kind : {Kind::dram, Kind::l1, Kind::cb, Kind::kernel}) {
            row.emplace_back(format_bytes(used_on_all_devices(summary, kind), style.bytes));
        }
        row.emplace_back(std::to_string(summary.allocations));
        row.emplace_back(std::to_string(summary.failures));
        row.emplace_back(summary.exact ? "yes" : "no", summary.exact ? Tone::plain : Tone::warn);
        table.add(std::move(row));
    }
    return table.text(style);
}

Text post_mortems_text(const PostMortemListView& view, const Style& style) {
    Text text;
    text.add(host_line(view.origin, view.post_mortems.empty() ? "no post-mortem"
                                                              : format_count(view.post_mortems.size(),
                                                                             "post-mortem", "post-mortems")));
    text.blank();
    if (view.post_mortems.empty()) {
        return text.add(
            Text("No tracked process has died while the daemon was running. When one does, this\n"
                 "list shows what it held.\n"));
    }
    text.add(post_mortem_table(view, style));
    if (view.dropped != 0) {
        text.add(
            fmt::format("... and {} no longer kept", format_count(view.dropped, "older one", "older ones")));
    }
    return text.add(
        Text("\nUsed bytes at death, summed over the devices of a process.\n"
             "'ttmem post-mortem PID' shows one process in detail.\n"));
}

Text post_mortem_text(const PostMortemView& view, const Style& style) {
    const PostMortem& found = view.post_mortem;
    const PostMortemSummary& summary = found.summary;
    const census::ProcessFigures& process = summary.process;
    Text text;
    text.add(
        headline(view.origin,
                 fmt::format("process {} ({}) of {} {} {} ago", process.pid, process.comm, process.user,
                             summary.ending == census::Ending::exec ? "executed another program" : "died",
                             format_age(difference(view.origin.time_ns, summary.died_ns))),
                 summary.exact));
    const std::string held =
        summary.allocations == 0
            ? "nothing"
            : fmt::format("{} on {}", format_count(summary.allocations, "allocation", "allocations"),
                          format_devices(ids_of(summary)));
    text.blank().add(fmt::format("It ran for {} and held {}.",
                                 format_age(difference(summary.died_ns, process.start_time_ns)), held));
    if (!found.by_kind.empty()) {
        text.blank().add("By kind (bytes per device; a mesh allocation counts once):");
        text.add(group_table(found.by_kind, census::GroupBy::kind, style));
    }
    if (!found.by_name.empty()) {
        text.blank().add(fmt::format("By name ({} of {}):", found.by_name.size(), found.names));
        text.add(group_table(found.by_name, census::GroupBy::name, style));
    }
    if (!found.largest.empty()) {
        text.blank().add("Largest allocations, with their age at death:");
        text.add(allocation_table(found.largest, style));
    }
    if (found.failure_counts.sum() != 0) {
        text.blank().add("Failures before it died: " + count_text(found.failure_counts));
        text.add(found.failures.empty() ? Text() : failure_table(found.failures, style));
    }
    return text.add(in_flight_text(found)).add(inexact_text(found.inexact));
}

}  // namespace ttmem::view
