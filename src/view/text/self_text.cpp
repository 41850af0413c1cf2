// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "view/text/format.hpp"
#include "view/text/screens.hpp"

namespace ttmem::view {

namespace {

std::string share_text(uint64_t part, uint64_t whole) {
    return whole == 0
               ? "-"
               : fmt::format("{:.1f}%", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

// "12 requests of users beyond a limit, most of them api connections"; empty where nothing was refused.
std::string refusals_text(const std::vector<BudgetView>& budgets) {
    uint64_t refused = 0;
    const BudgetView* most = nullptr;
    for (const BudgetView& budget : budgets) {
        refused += budget.refused;
        most = most == nullptr || budget.refused > most->refused ? &budget : most;
    }
    if (refused == 0) {
        return "";
    }
    std::string name = most->name;
    std::replace(name.begin(), name.end(), '_', ' ');
    return fmt::format("{} of users beyond a limit, {} {}", format_count(refused, "request", "requests"),
                       refused == most->refused ? "all of them" : "most of them", name);
}

std::string recorder_text(const FlightRecorderView& recorder, const Style& style) {
    if (!recorder.problem.empty()) {
        return "stopped: " + recorder.problem;
    }
    return fmt::format("{} in {}, {}, {} lost", format_bytes(recorder.bytes, style.bytes),
                       format_count(recorder.files, "file", "files"),
                       format_count(recorder.events, "event", "events"), recorder.events_lost);
}

std::string kept_text(const HistoryFile& file, const Style& style) {
    std::string text;
    switch (file.state) {
        case HistoryState::off:
            return "not kept on disk, by the configuration";
        case HistoryState::opening:
            return "the file is being checked";
        case HistoryState::stopped:
            text = "not kept: " + file.problem;
            break;
        case HistoryState::kept:
            text = fmt::format("{} of {} on disk", format_bytes(file.bytes, style.bytes),
                               format_bytes(file.most_bytes, style.bytes));
            break;
    }
    if (file.lost != 0) {
        text += fmt::format(", {} lost", format_count(file.lost, "sample", "samples"));
    }
    if (!file.set_aside.empty()) {
        text += "; a damaged file is now " + file.set_aside;
    }
    return text;
}

}  // namespace

Text self_text(const SelfView& view, const Style& style) {
    const auto bytes = [&](uint64_t amount) { return format_bytes(amount, style.bytes); };
    Text text;
    text.add(fmt::format("ttmemd {} on {}, process {}, up {}", view.version, view.origin.host, view.pid,
                         format_age(view.uptime_ns)));
    text.blank();
    text.add(fmt::format("  cost       {} of one core since start, {} of memory",
                         share_text(view.cpu_ns, view.uptime_ns), bytes(view.memory_bytes)));
    text.add(fmt::format("  watches    {} with {} of segments, {}",
                         format_count(view.processes, "process", "processes"), bytes(view.segment_bytes),
                         format_count(view.post_mortems, "post-mortem", "post-mortems")));
    text.add(fmt::format("  followed   {} ({} per second now), {} lost, {:.1f} ms behind",
                         format_count(view.events_followed, "event", "events"), view.events_per_second,
                         view.events_lost, static_cast<double>(view.lag_ns) / 1e6));
    text.add(fmt::format("  audits     {} done, {}", view.audits,
                         format_count(view.defects, "defect found", "defects found")));
    text.add(fmt::format("  serves     {}; {} lost",
                         format_count(view.connections, "connection", "connections"),
                         format_count(view.log_lines_lost, "log line", "log lines")));
    if (view.flight_recorder) {
        text.add("  recorder   " + recorder_text(*view.flight_recorder, style));
    }
    text.add("  history    " + kept_text(view.history, style));
    if (const std::string refusals = refusals_text(view.budgets); !refusals.empty()) {
        text.add("  refused    " + refusals);
    }
    if (view.processes_missed != 0 || view.failed_tasks != 0) {
        text.add(fmt::format("  missed     {}, {}",
                             format_count(view.processes_missed, "short process", "short processes"),
                             format_count(view.failed_tasks, "failed task", "failed tasks")));
    }
    return text;
}

}  // namespace ttmem::view
