// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cassert>
#include <map>
#include <string_view>

#include "census/device_facts.hpp"
#include "census/figures_builder.hpp"
#include "census/meshes.hpp"

namespace ttmem::census {

void SmallestFree::add(std::optional<uint64_t> largest) {
    is_unknown_ = is_unknown_ || !largest;
    smallest_ = std::min(smallest_.value_or(UINT64_MAX), largest.value_or(UINT64_MAX));
}

std::optional<uint64_t> SmallestFree::bytes(std::optional<uint64_t> where_nothing_is_held) const {
    if (is_unknown_) {
        return std::nullopt;
    }
    return smallest_ ? smallest_ : where_nothing_is_held;
}

namespace {

// Whether a chip is behind another one. The driver lists the chips on the bus; remote chips can only be distinguished
// by their ASIC ids.
std::optional<bool> is_remote(const Census& census, const DeviceTable::Device& device) {
    if (device.driver != nullptr || census.device_ids->was_listed_by_driver(device.info.asic_id)) {
        return false;
    }
    const bool can_tell = census.driver && !census.driver->devices.empty() && device.info.asic_id != 0 &&
                          std::all_of(census.driver->devices.begin(), census.driver->devices.end(),
                                      [](const DriverDevice& one) { return one.asic_id.has_value(); });
    return can_tell ? std::optional(true) : std::nullopt;
}

}  // namespace

FiguresBuilder::FiguresBuilder(const Census& census)
    : shares(census.work_budgets),
      reports(read_reports(census, shares)),
      table(census, reports),
      is_scan_skipped(reports.size(), false) {
    for (const DeviceTable::Device& device : table.devices()) {
        figures.devices.push_back(describe(device));
        figures.devices.back().is_remote = is_remote(census, device);
    }
    partial.resize(figures.devices.size());
}

ProcessFigures describe_process(const Identity& identity, ProcessState state, ProcessSource source) {
    ProcessFigures figures;
    figures.pid = identity.pid;
    figures.inner_pid = identity.inner_pid;
    figures.start_time_ns = identity.start_time_ns;
    figures.comm = identity.comm;
    figures.uid = identity.uid;
    figures.user = identity.user;
    figures.container = identity.container;
    figures.state = state;
    figures.source = source;
    return figures;
}

namespace {

// A process may have two segments: one of a linked library, one of a plug-in. Users see one process.
void add_process(std::vector<ProcessFigures>& processes, ProcessFigures process) {
    assert(processes.empty() || processes.back().pid <= process.pid);
    if (processes.empty() || processes.back().pid != process.pid) {
        processes.push_back(std::move(process));
        return;
    }
    std::map<uint32_t, DeviceHoldings> by_id;
    for (const auto* devices : {&processes.back().devices, &process.devices}) {
        for (const DeviceHoldings& device : *devices) {
            DeviceHoldings& sum =
                by_id.try_emplace(device.id, DeviceHoldings{device.id, device.logical_id, {}}).first->second;
            for (size_t kind = 0; kind < kDeviceKinds; ++kind) {
                Holding& holding = sum.memory[kind];
                add_to(holding, device.memory[kind]);
                holding.is_count_known = holding.is_count_known && device.memory[kind].is_count_known;
            }
        }
    }
    processes.back().devices.clear();
    for (auto& [id, device] : by_id) {
        processes.back().devices.push_back(device);
    }
}

// Fills in the values that depend on all processes of a device.
void finish(DeviceFigures& device, const PartialFigures& partial, const ttmem_device_info& info,
            Depth depth) {
    for (size_t kind = 0; kind < kDeviceKinds; ++kind) {
        const Peak peak = combine(partial.peaks[kind]);
        assert(peak.bytes >= device.memory[kind].used);
        device.memory[kind].peak = peak.bytes;
        device.memory[kind].peak_exact = peak.exact && !partial.peaks_lost && !partial.is_unreported[kind];
        device.memory[kind].is_known = partial.is_reported[kind] || !partial.is_unreported[kind];
        device.memory[kind].is_count_known = device.memory[kind].is_known && !partial.is_count_unreported;
    }
    if (depth == Depth::pools) {
        return;
    }
    for (size_t kind = 0; kind < kPoolKinds; ++kind) {
        const Bank bank = bank_of(info, static_cast<Kind>(kind));
        device.memory[kind].largest_free =
            partial.free[kind].bytes(bank.is_known() ? std::optional(bank.size) : std::nullopt);
    }
    if (partial.is_l1_reach_unknown) {
        return;
    }
    device.l1_worst_core =
        worst_core(partial.l1_reach, bank_of(info, Kind::l1), device.memory[index_of(Kind::l1)].used);
}

}  // namespace

Figures compute_figures(const Census& census, Depth depth) {
    FiguresBuilder builder(census);
    for (size_t report = 0; report < builder.reports.size(); ++report) {
        const Process& who = *builder.reports[report].process;
        ProcessFigures process = describe_process(who.identity, who.state, who.source);
        process.devices = add_pools(builder, report);
        add_process(builder.figures.processes, std::move(process));
    }
    if (depth == Depth::ledgers) {
        for (const size_t report : by_age(builder.reports)) {
            add_ledger(builder, report);
        }
    }
    for (size_t report = 0; report < builder.reports.size(); ++report) {
        note_inexactness(builder, report);
    }
    add_totals_only(builder, census);
    add_untracked(builder, census);
    note_unnamed_devices(builder, census);
    note_ambiguous_numbers(builder, census);
    note_own_numbers(builder, census);
    note_disputes(builder);
    std::stable_sort(builder.figures.processes.begin(), builder.figures.processes.end(),
                     [](const auto& a, const auto& b) { return a.pid < b.pid; });
    builder.figures.meshes = described_meshes(builder.reports, builder.table);
    for (size_t i = 0; i < builder.figures.devices.size(); ++i) {
        finish(builder.figures.devices[i], builder.partial[i], builder.table.devices()[i].info, depth);
    }
    for (const Omission& omission : census.omissions) {
        if (!omission.is_foreign) {
            builder.figures.inexact.push_back(omission.inexactness());
        }
    }
    return std::move(builder.figures);
}

std::vector<PeakBounds> compute_peak_bounds(const Census& census) {
    FiguresBuilder builder(census);
    for (size_t report = 0; report < builder.reports.size(); ++report) {
        add_pools(builder, report);
    }
    std::vector<PeakBounds> bounds;
    for (size_t i = 0; i < builder.partial.size(); ++i) {
        PeakBounds& device = bounds.emplace_back(PeakBounds{builder.figures.devices[i].id});
        for (size_t kind = 0; kind < kDeviceKinds && !builder.partial[i].peaks_lost; ++kind) {
            device.at_most[kind] = combine(builder.partial[i].peaks[kind]).at_most;
        }
    }
    return bounds;
}

}  // namespace ttmem::census
