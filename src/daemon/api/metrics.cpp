// SPDX-License-Identifier: Apache-2.0
#include "daemon/api/metrics.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "census/arithmetic.hpp"
#include "census/failures.hpp"
#include "daemon/api/metric_families.hpp"

namespace ttmem::daemon {

using census::ProcessFigures;

namespace {

constexpr double kNanosecondsPerSecond = 1e9;

void add_single(Families& families, Family family, double value) {
    add(family, {}, value);
    families.push_back(std::move(family));
}

void add_inexactness(Families& families, const std::vector<census::Inexactness>& all) {
    std::map<census::Reason, std::set<uint32_t>> pids_by_reason;
    for (const census::Inexactness& one : all) {
        pids_by_reason[one.reason].insert(one.pid);
    }
    add_single(
        families,
        gauge("ttmem_inexact_reasons", "Reasons why figures are inexact now; 0: all figures are exact."),
        static_cast<double>(all.size()));
    Family family = gauge("ttmem_inexact", "Processes whose figures are inexact, by reason.");
    for (const auto& [reason, pids] : pids_by_reason) {
        add(family, {{"reason", std::string(name_of(reason))}}, pids.size());
    }
    families.push_back(std::move(family));
}

void add_processes(Families& families, const std::vector<ProcessFigures>& processes) {
    // Possible combinations have a series even if they are 0, because 0 is known.
    using census::ProcessSource;
    using census::ProcessState;
    std::map<std::pair<ProcessState, ProcessSource>, uint64_t> number = {
        {{ProcessState::live, ProcessSource::segment}, 0},
        {{ProcessState::live, ProcessSource::classic}, 0},
        {{ProcessState::live, ProcessSource::stock}, 0},
        {{ProcessState::untracked, ProcessSource::driver}, 0}};
    for (const ProcessFigures& process : processes) {
        ++number[{process.state, process.source}];
    }
    Family family = gauge("ttmem_processes",
                          "Processes on this host's devices; untracked ones do not report what they hold.");
    for (const auto& [key, count] : number) {
        add(family,
            {{"state", std::string(name_of(key.first))}, {"source", std::string(name_of(key.second))}},
            count);
    }
    families.push_back(std::move(family));
}

void add_counters(Families& families, const Readings& readings) {
    Family failures = counter("ttmem_failures_total",
                              "Failures in tracked processes: out of memory, clashing circular buffers, "
                              "unknown frees.");
    for (size_t type = 0; type < readings.failures.size(); ++type) {
        add(failures, {{"type", std::string(census::name_of(static_cast<census::FailureType>(type)))}},
            readings.failures[type]);
    }
    families.push_back(std::move(failures));
    const auto single = [&](const char* name, const char* help, uint64_t value) {
        add_single(families, counter(name, help), static_cast<double>(value));
    };
    single("ttmem_events_followed_total", "Events of tracked processes that the daemon has read.",
           readings.self.events_followed);
    single(
        "ttmem_events_lost_total",
        "Events that were overwritten before the daemon read them; memory figures do not depend on events.",
        readings.self.events_lost);
    single("ttmem_process_deaths_total", "Tracked processes that have ended.", readings.deaths.all);
    single("ttmem_process_deaths_holding_memory_total",
           "Tracked processes that ended without freeing everything.", readings.deaths.holding_memory);
    single("ttmem_process_execs_total", "Tracked processes that have replaced their program with exec.",
           readings.deaths.replaced);
    single("ttmem_processes_missed_total", "Processes that ended before the daemon could attach to them.",
           readings.self.processes_missed);
    single("ttmem_failed_tasks_total", "Tasks of the daemon that failed, such as because memory ran out.",
           readings.self.failed_tasks);
    single("ttmem_defects_total", "Tracked processes whose counters differed from their ledger.",
           readings.self.defects);
}

void add_self(Families& families, const view::SelfView& self) {
    add_single(families, counter("ttmem_daemon_cpu_seconds_total", "CPU time of ttmemd."),
               static_cast<double>(self.cpu_ns) / kNanosecondsPerSecond);
    add_single(families,
               gauge("ttmem_daemon_memory_bytes", "Memory of ttmemd, without segments of other processes."),
               static_cast<double>(self.memory_bytes));
    add_single(families, gauge("ttmem_daemon_uptime_seconds", "Time since ttmemd started."),
               static_cast<double>(self.uptime_ns) / kNanosecondsPerSecond);
    add_single(
        families,
        gauge("ttmem_history_kept", "1: ttmemd writes history to its disk; 0: it can't, or history is off."),
        self.history.state == view::HistoryState::kept ? 1 : 0);
    add_single(families,
               gauge("ttmem_history_bytes", "The file in which ttmemd keeps history, with its log."),
               static_cast<double>(self.history.bytes));
    add_single(families, counter("ttmem_history_samples_lost_total", "Samples that ttmemd could not write."),
               static_cast<double>(self.history.lost));
    Family build = gauge("ttmem_build_info", "1, with the version of ttmemd.");
    add(build, {{"version", self.version}}, 1);
    families.push_back(std::move(build));
}

void add_flight_recorder(Families& families, const view::FlightRecorderView& recorder) {
    add_single(families,
               gauge("ttmem_flight_recorder_up", "1 while the flight recorder records, 0 while it can't."),
               recorder.is_recording ? 1.0 : 0.0);
    add_single(families, gauge("ttmem_flight_recorder_bytes", "Size of the files of the flight recorder."),
               static_cast<double>(recorder.bytes));
    add_single(families, counter("ttmem_flight_recorder_events_total", "Events that it has recorded."),
               static_cast<double>(recorder.events));
    add_single(families,
               counter("ttmem_flight_recorder_events_lost_total",
                       "Events that were overwritten before it read them."),
               static_cast<double>(recorder.events_lost));
}

void add_budgets(Families& families, const std::vector<view::BudgetView>& budgets) {
    Family used = gauge("ttmem_budget_used", "What all users have taken of a budget.");
    Family refusals = counter("ttmem_budget_refusals_total",
                              "Requests that were refused because a user was beyond a limit.");
    for (const view::BudgetView& budget : budgets) {
        add(used, {{"budget", budget.name}}, budget.used);
        add(refusals, {{"budget", budget.name}}, budget.refused);
    }
    families.push_back(std::move(used));
    families.push_back(std::move(refusals));
}

uint64_t used_by(const ProcessFigures& process) {
    uint64_t sum = 0;
    for (const census::DeviceHoldings& device : process.devices) {
        for (const census::Holding& held : device.memory) {
            sum = census::saturating_add(sum, held.used);
        }
    }
    return sum;
}

struct Amounts {
    uint64_t used = 0;
    uint64_t requested = 0;
};

// Keyed by all labels: if a series appeared twice, a server would reject the whole scrape.
void add_process_series(Families& families, std::vector<ProcessFigures> processes) {
    std::stable_sort(processes.begin(), processes.end(),
                     [](const auto& a, const auto& b) { return used_by(a) > used_by(b); });
    size_t shown = 0;
    for (size_t entries = 0; shown < std::min(processes.size(), kMostProcessSeries); ++shown) {
        entries += processes[shown].devices.size();
        if (entries > kMostDeviceEntries) {
            break;
        }
    }
    using AmountsKey = std::tuple<uint32_t, std::string, std::string, uint32_t, size_t>;
    std::map<AmountsKey, Amounts> amounts;
    for (size_t i = 0; i < shown; ++i) {
        const ProcessFigures& process = processes[i];
        for (const census::DeviceHoldings& device : process.devices) {
            for (size_t kind = 0; kind < device.memory.size(); ++kind) {
                const census::Holding& held = device.memory[kind];
                if (held.is_known) {
                    Amounts& sum = amounts[{process.pid, process.comm, process.user, device.id, kind}];
                    sum.used = census::saturating_add(sum.used, held.used);
                    sum.requested = census::saturating_add(sum.requested, held.requested);
                }
            }
        }
    }
    Family used = gauge("ttmem_process_used_bytes", "Bytes that a process has allocated, rounding included.");
    Family requested =
        gauge("ttmem_process_requested_bytes", "Bytes that a process has requested, without rounding.");
    for (const auto& [key, sum] : amounts) {
        const auto& [pid, comm, user, device, kind] = key;
        const Labels labels = {{"pid", std::to_string(pid)},
                               {"comm", comm},
                               {"user", user},
                               {"device", std::to_string(device)},
                               {"kind", std::string(census::name_of(static_cast<census::Kind>(kind)))}};
        add(used, labels, sum.used);
        add(requested, labels, sum.requested);
    }
    families.push_back(std::move(used));
    families.push_back(std::move(requested));
    add_single(families,
               gauge("ttmem_process_series_left_out", "Processes without series because there are too many."),
               static_cast<double>(processes.size() - shown));
}

}  // namespace

std::string to_metrics(const Readings& readings, ProcessSeries processes) {
    Families families;
    add_memory(families, readings.figures.devices);
    add_telemetry(families, readings.figures.devices);
    add_processes(families, readings.figures.processes);
    add_inexactness(families, readings.figures.inexact);
    add_counters(families, readings);
    add_self(families, readings.self);
    if (readings.self.flight_recorder) {
        add_flight_recorder(families, *readings.self.flight_recorder);
    }
    add_budgets(families, readings.self.budgets);
    if (processes == ProcessSeries::yes) {
        add_process_series(families, readings.figures.processes);
    }
    return to_text(families);
}

}  // namespace ttmem::daemon
