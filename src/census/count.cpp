// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "census/counting.hpp"
#include "census/device_facts.hpp"

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

// Whether a chip is behind another one. The driver lists those on the bus, and only by their ASIC ids can the others be told.
std::optional<bool> is_remote(const Census& census, const DeviceTable::Device& device) {
    if (device.driver != nullptr || census.device_ids->was_placed(device.info.asic_id)) {
        return false;
    }
    const bool can_tell = census.driver && !census.driver->devices.empty() && device.info.asic_id != 0 &&
                          std::all_of(census.driver->devices.begin(), census.driver->devices.end(),
                                      [](const DriverDevice& one) { return one.asic_id.has_value(); });
    return can_tell ? std::optional(true) : std::nullopt;
}

}  // namespace

Counting::Counting(const Census& census) : reports(read_reports(census)), table(census, reports) {
    for (const DeviceTable::Device& device : table.devices()) {
        figures.devices.push_back(describe(device));
        figures.devices.back().is_remote = is_remote(census, device);
    }
    workings.resize(figures.devices.size());
}

ProcessFigures introduce(const Identity& identity, std::string state, Source source) {
    constexpr std::array<std::string_view, 4> kSources = {"segment", "classic", "stock", "driver"};
    ProcessFigures figures;
    figures.pid = identity.pid;
    figures.inner_pid = identity.inner_pid;
    figures.start_time_ns = identity.start_time_ns;
    figures.comm = identity.comm;
    figures.uid = identity.uid;
    figures.user = identity.user;
    figures.container = identity.container;
    figures.state = std::move(state);
    figures.source = kSources[static_cast<size_t>(source)];
    return figures;
}

namespace {

// A process may hold two segments: one of a library that it is linked with, one of a plug-in. To people it is one.
void add_process(std::vector<ProcessFigures>& processes, ProcessFigures process) {
    if (processes.empty() || processes.back().pid != process.pid) {
        processes.push_back(std::move(process));
        return;
    }
    std::map<uint32_t, HeldOnDevice> by_id;
    for (const auto* devices : {&processes.back().devices, &process.devices}) {
        for (const HeldOnDevice& device : *devices) {
            HeldOnDevice& sum =
                by_id.try_emplace(device.id, HeldOnDevice{device.id, device.logical_id, {}}).first->second;
            for (size_t kind = 0; kind < kDeviceKinds; ++kind) {
                add_to(sum.memory[kind], device.memory[kind]);
            }
        }
    }
    processes.back().devices.clear();
    for (auto& [id, device] : by_id) {
        processes.back().devices.push_back(device);
    }
}

// From what was gathered about a device, what depends on all of it.
void finish(DeviceFigures& device, const Workings& workings, const ttmem_device_info& info, Depth depth) {
    for (size_t kind = 0; kind < kDeviceKinds; ++kind) {
        const Peak peak = combine(workings.peaks[kind]);
        device.memory[kind].peak = peak.bytes;
        device.memory[kind].peak_exact = peak.exact && !workings.peaks_lost && !workings.is_untold[kind];
        device.memory[kind].is_known = workings.is_told[kind] || !workings.is_untold[kind];
        device.memory[kind].is_count_known = device.memory[kind].is_known && !workings.is_count_untold;
    }
    if (depth == Depth::pools) {
        return;
    }
    for (size_t kind = 0; kind < kPoolKinds; ++kind) {
        const Bank bank = bank_of(info, static_cast<Kind>(kind));
        device.memory[kind].largest_free =
            workings.free[kind].bytes(bank.is_known() ? std::optional(bank.size) : std::nullopt);
    }
    device.l1_worst_core =
        worst_core(workings.l1_reach, bank_of(info, Kind::l1), device.memory[index_of(Kind::l1)].used);
}

}  // namespace

Figures count(const Census& census, Depth depth) {
    Counting counting(census);
    for (size_t report = 0; report < counting.reports.size(); ++report) {
        const Process& who = *counting.reports[report].process;
        ProcessFigures process =
            introduce(who.identity, who.state == State::live ? "live" : "dead", who.source);
        process.devices = count_pools(counting, report);
        add_process(counting.figures.processes, std::move(process));
        if (depth == Depth::ledgers) {
            count_ledger(counting, report);
        }
        note_inexactness(counting, report);
    }
    count_totals_only(counting, census);
    count_untracked(counting, census);
    note_unnamed_devices(counting, census);
    std::stable_sort(counting.figures.processes.begin(), counting.figures.processes.end(),
                     [](const auto& a, const auto& b) { return a.pid < b.pid; });
    for (size_t i = 0; i < counting.figures.devices.size(); ++i) {
        finish(counting.figures.devices[i], counting.workings[i], counting.table.devices()[i].info, depth);
    }
    for (const Skipped& skipped : census.skipped) {
        if (!skipped.is_foreign) {
            counting.figures.inexact.push_back({skipped.pid, skipped.why, 1, skipped.pid != 0});
        }
    }
    return std::move(counting.figures);
}

}  // namespace ttmem::census
