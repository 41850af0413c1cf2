// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

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

std::string hidden_line(const PostMortemListView& view) {
    return view.hidden_post_mortems == 0
               ? ""
               : format_count(view.hidden_post_mortems, "post-mortem", "post-mortems") +
                     " of other users' processes";
}

std::string ending_text(const PostMortemSummary& summary) {
    switch (summary.ending) {
        case census::Ending::exec:
            return "exec";
        case census::Ending::exit:
            return fmt::format("exit {}", summary.exit_code.value_or(0));
        case census::Ending::signal: {
            const char* name = sigabbrev_np(summary.signal.value_or(0));
            return name != nullptr ? fmt::format("SIG{}", name)
                                   : fmt::format("signal {}", summary.signal.value_or(0));
        }
        case census::Ending::not_known:
            break;
    }
    return "not known";
}

namespace {

std::string ending_sentence(const PostMortemSummary& summary) {
    switch (summary.ending) {
        case census::Ending::exec:
            return "executed another program";
        case census::Ending::exit:
            return fmt::format("exited with code {}", summary.exit_code.value_or(0));
        case census::Ending::signal:
            return fmt::format("was ended by signal {} ({})", summary.signal.value_or(0),
                               ending_text(summary));
        case census::Ending::not_known:
            break;
    }
    return "ended (how is not known)";
}

// The row without time and pid.
std::vector<Line> row_of(const PostMortemSummary& summary, const Style& style) {
    std::vector<Line> row = {summary.process.user, summary.process.comm, format_ids(ids_of(summary)),
                             ending_text(summary)};
    for (const Kind kind : {Kind::dram, Kind::l1, Kind::cb, Kind::kernel}) {
        row.emplace_back(format_bytes(used_on_all_devices(summary, kind), style.bytes));
    }
    row.emplace_back(std::to_string(summary.allocations));
    row.emplace_back(std::to_string(summary.failures));
    row.emplace_back(summary.exact ? "yes" : "no", summary.exact ? Tone::plain : Tone::warn);
    return row;
}

}  // namespace

std::vector<EqualPostMortems> fold_post_mortems(const std::vector<const PostMortemSummary*>& post_mortems,
                                                const Style& style) {
    std::vector<EqualPostMortems> rows;
    for (const PostMortemSummary* const summary : post_mortems) {
        std::vector<Line> row = row_of(*summary, style);
        if (!rows.empty() && rows.back().row == row) {
            rows.back().oldest = summary;
            ++rows.back().number;
        } else {
            rows.push_back({summary, summary, 1, std::move(row)});
        }
    }
    return rows;
}

Text post_mortem_table(const std::vector<EqualPostMortems>& post_mortems, uint64_t now_ns,
                       const Style& style) {
    const bool is_folded = std::any_of(post_mortems.begin(), post_mortems.end(),
                                       [](const EqualPostMortems& one) { return one.number != 1; });
    std::vector<Column> columns = {{"DIED"}, {"PID"}};
    if (is_folded) {
        columns.push_back({"ALIKE"});
    }
    for (Column column :
         {Column{"USER", kLeft, 0, 5}, Column{"COMMAND", kLeft, 0, 10}, Column{"DEV", kLeft, 0, 5},
          Column{"ENDING", kLeft}, Column{sum_title("DRAM")}, Column{sum_title("L1"), kRight, 1},
          Column{sum_title("CB"), kRight, 4}, Column{sum_title("KERNEL"), kRight, 5},
          Column{"LIVE", kRight, 2}, Column{"FAILURES", kRight, 3}, Column{"EXACT", kLeft}}) {
        columns.push_back(std::move(column));
    }
    Table table(std::move(columns));
    for (const EqualPostMortems& one : post_mortems) {
        std::vector<Line> row = {format_age(difference(now_ns, one.newest->died_ns)),
                                 std::to_string(one.newest->process.pid)};
        if (is_folded) {
            row.emplace_back(one.number == 1 ? "-" : std::to_string(one.number));
        }
        row.insert(row.end(), one.row.begin(), one.row.end());
        table.add(std::move(row));
    }
    return table.text(style);
}

namespace {

// Why earlier ones may be missing.
Text not_kept_text(const PostMortemListView& view) {
    std::vector<census::Inexactness> reasons;
    std::copy_if(view.inexact.begin(), view.inexact.end(), std::back_inserter(reasons),
                 [](const auto& each) { return each.reason == census::Reason::history_not_kept; });
    return inexact_text(reasons);
}

}  // namespace

Text post_mortems_text(const PostMortemListView& view, const Style& style) {
    Text text;
    text.add(host_line(view.origin, view.post_mortems.empty() ? "no post-mortem"
                                                              : format_count(view.post_mortems.size(),
                                                                             "post-mortem", "post-mortems")));
    text.blank();
    if (view.post_mortems.empty()) {
        text.add(view.hidden_post_mortems == 0
                     ? Text("No tracked process has died while the daemon was running. When one does, this\n"
                            "list shows what it held.\n")
                     : Text("None of your tracked processes has died while the daemon was running.\n"));
        return text.add(missed_text(view.processes_missed))
            .add(hidden_below(hidden_line(view)))
            .add(not_kept_text(view));
    }
    std::vector<const PostMortemSummary*> all;
    for (const PostMortemSummary& one : view.post_mortems) {
        all.push_back(&one);
    }
    text.add(post_mortem_table(fold_post_mortems(all, style), view.origin.time_ns, style));
    if (view.left_out() != 0) {
        text.add(fmt::format("... and {} earlier ('--limit 0' shows all)", view.left_out()));
    }
    if (view.dropped != 0) {
        text.add(
            fmt::format("... and {} no longer kept", format_count(view.dropped, "older one", "older ones")));
    }
    text.add(missed_text(view.processes_missed));
    text.add(
        Text("\nSUM: used bytes at death, over all devices of a process. LIVE: allocations.\n"
             "ALIKE: the number of processes with equal rows. ENDING: not known until the\n"
             "parent has waited for it. 'ttmem post-mortem PID' shows one process in detail.\n"));
    return text.add(hidden_below(hidden_line(view))).add(not_kept_text(view));
}

Text post_mortem_text(const PostMortemView& view, const Style& style) {
    const PostMortem& found = view.post_mortem;
    const PostMortemSummary& summary = found.summary;
    const census::ProcessFigures& process = summary.process;
    Text text;
    text.add(headline(
        view.origin,
        fmt::format("process {} ({}) of {} {} {} ago", process.pid, process.comm, process.user,
                    ending_sentence(summary), format_age(difference(view.origin.time_ns, summary.died_ns))),
        summary.exact));
    const std::string held =
        summary.allocations == 0
            ? "nothing"
            : fmt::format("{} on {}", format_count(summary.allocations, "allocation", "allocations"),
                          format_devices(ids_of(summary)));
    text.blank().add(fmt::format("It ran for {} and held {}.",
                                 format_age(difference(summary.died_ns, process.start_time_ns)), held));
    if (!found.by_kind.empty()) {
        text.blank().add("By kind (SUM: bytes over all devices):");
        text.add(group_table(found.by_kind, census::GroupBy::kind, GroupSumsOver::all_devices, style));
    }
    if (!found.by_name.empty()) {
        text.blank().add(fmt::format("By name ({} of {}):", found.by_name.size(), found.names));
        text.add(group_table(found.by_name, census::GroupBy::name, GroupSumsOver::all_devices, style));
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
