// SPDX-License-Identifier: Apache-2.0
#include "daemon/metrics.hpp"

#include <prometheus/text_serializer.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "census/arithmetic.hpp"
#include "census/failures.hpp"
#include "daemon/metric_families.hpp"

namespace ttmem::daemon {

using census::ProcessFigures;

namespace {

constexpr double kNanoseconds = 1e9;  // of a second

void add_single(Families& families, Family family, double value) {
    add(family, {}, value);
    families.push_back(std::move(family));
}

// Reasons are set texts: the words before their colon name them. But why a segment was skipped or a file of the host
// not read has numbers and paths in it: these are one reason each.
std::string name_of_reason(const census::Inexactness& inexact) {
    if (inexact.skipped) {
        return "segment skipped";
    }
    return inexact.pid == 0 ? "host" : inexact.reason.substr(0, inexact.reason.find(':'));
}

void add_inexactness(Families& families, const std::vector<census::Inexactness>& all) {
    std::map<std::string, std::set<uint32_t>> pids_by_reason;
    for (const census::Inexactness& one : all) {
        pids_by_reason[name_of_reason(one)].insert(one.pid);
    }
    add_single(
        families,
        gauge("ttmem_inexact_reasons", "Reasons why figures are less than exact now; 0: all are exact."),
        static_cast<double>(all.size()));
    Family family = gauge("ttmem_inexact", "Processes whose figures are less than exact, by the reason.");
    for (const auto& [reason, pids] : pids_by_reason) {
        add(family, {{"reason", reason}}, pids.size());
    }
    families.push_back(std::move(family));
}

void add_processes(Families& families, const std::vector<ProcessFigures>& processes) {
    // Those that can be are there with a 0 as well: it is known that there are none.
    std::map<std::pair<std::string, std::string>, uint64_t> number = {{{"live", "segment"}, 0},
                                                                      {{"live", "classic"}, 0},
                                                                      {{"live", "stock"}, 0},
                                                                      {{"untracked", "driver"}, 0}};
    for (const ProcessFigures& process : processes) {
        ++number[{process.state, process.source}];
    }
    Family family =
        gauge("ttmem_processes",
              "Processes on this host's devices: live ones tell what they hold, untracked ones don't.");
    for (const auto& [key, count] : number) {
        add(family, {{"state", key.first}, {"source", key.second}}, count);
    }
    families.push_back(std::move(family));
}

void add_counters(Families& families, const Readings& readings) {
    Family failures = counter("ttmem_failures_total",
                              "What failed in tracked processes: allocations, clashing circular buffers, "
                              "frees of something unknown.");
    for (size_t type = 0; type < readings.failures.size(); ++type) {
        add(failures, {{"type", std::string(census::name_of(static_cast<census::FailureType>(type)))}},
            readings.failures[type]);
    }
    families.push_back(std::move(failures));
    const auto single = [&](const char* name, const char* help, uint64_t value) {
        add_single(families, counter(name, help), static_cast<double>(value));
    };
    single("ttmem_events_followed_total", "Events of tracked processes that were taken up.",
           readings.self.events_followed);
    single("ttmem_events_lost_total",
           "Events of tracked processes that were overwritten before; no figure of memory depends on them.",
           readings.self.events_lost);
    single("ttmem_process_deaths_total", "Tracked processes whose end was seen.", readings.deaths.all);
    single("ttmem_process_deaths_holding_memory_total",
           "Those of them that ended without freeing everything.", readings.deaths.holding_memory);
    single("ttmem_defects_total", "Tracked processes whose counters were seen to differ from their ledger.",
           readings.self.defects);
}

void add_self(Families& families, const view::SelfView& self) {
    add_single(families,
               counter("ttmem_daemon_cpu_seconds_total", "Processor time that ttmemd itself has taken."),
               static_cast<double>(self.cpu_ns) / kNanoseconds);
    add_single(
        families,
        gauge("ttmem_daemon_memory_bytes", "Memory of ttmemd itself, the segments of others not counted."),
        static_cast<double>(self.memory_bytes));
    add_single(families, gauge("ttmem_daemon_uptime_seconds", "How long this ttmemd has been running."),
               static_cast<double>(self.uptime_ns) / kNanoseconds);
    Family build = gauge("ttmem_build_info", "1, with the version of ttmemd.");
    add(build, {{"version", self.version}}, 1);
    families.push_back(std::move(build));
}

uint64_t used_by(const ProcessFigures& process) {
    uint64_t sum = 0;
    for (const census::HeldOnDevice& device : process.devices) {
        for (const census::Held& held : device.memory) {
            sum = census::saturating_add(sum, held.used);
        }
    }
    return sum;
}

struct Amounts {
    uint64_t used = 0;
    uint64_t requested = 0;
};

// Keyed by all that is in a label: the same series twice would make a server refuse everything.
void add_process_series(Families& families, std::vector<ProcessFigures> processes) {
    std::stable_sort(processes.begin(), processes.end(),
                     [](const auto& a, const auto& b) { return used_by(a) > used_by(b); });
    const size_t shown = std::min(processes.size(), kMostProcessSeries);
    using Key = std::tuple<uint32_t, std::string, std::string, uint32_t, size_t>;
    std::map<Key, Amounts> amounts;
    for (size_t i = 0; i < shown; ++i) {
        const ProcessFigures& process = processes[i];
        for (const census::HeldOnDevice& device : process.devices) {
            for (size_t kind = 0; kind < device.memory.size(); ++kind) {
                const census::Held& held = device.memory[kind];
                if (held.is_known) {
                    Amounts& sum = amounts[{process.pid, process.comm, process.user, device.id, kind}];
                    sum.used = census::saturating_add(sum.used, held.used);
                    sum.requested = census::saturating_add(sum.requested, held.requested);
                }
            }
        }
    }
    Family used = gauge("ttmem_process_used_bytes",
                        "Bytes that allocators have given to a process, rounding included.");
    Family requested =
        gauge("ttmem_process_requested_bytes", "Bytes that a process asked for, of those given to it.");
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
               gauge("ttmem_process_series_left_out",
                     "Processes that have no series of their own because there are too many."),
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
    if (processes == ProcessSeries::yes) {
        add_process_series(families, readings.figures.processes);
    }
    return prometheus::TextSerializer().Serialize(families);
}

}  // namespace ttmem::daemon
