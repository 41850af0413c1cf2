// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include "census/counting.hpp"

namespace ttmem::census {

namespace {

// What is not told is absent, and what is told has no more than its bytes.
void add_totals(Counting& counting, ProcessFigures& process, const DeviceTotals& totals) {
    const size_t position = counting.table.position_of_asic(totals.asic_id);
    DeviceFigures& device = counting.figures.devices[position];
    Workings& workings = counting.workings[position];
    HeldOnDevice held;
    held.id = device.id;
    held.logical_id = totals.logical_id;
    workings.is_count_untold = true;
    for (size_t kind = 0; kind < kDeviceKinds; ++kind) {
        const uint64_t bytes = totals.requested[kind].value_or(0);
        const bool is_told = totals.requested[kind].has_value();
        (is_told ? workings.is_told : workings.is_untold)[kind] = true;
        held.memory[kind] = {bytes, bytes, 0, is_told, false};
        add_to(device.memory[kind], held.memory[kind]);
        workings.peaks[kind].push_back({SIZE_MAX, 0, 0, bytes, bytes});
    }
    workings.peaks_lost = true;  // they were at least what it holds now
    process.devices.push_back(held);
}

bool is_counted(const Census& census, const Identity& identity) {
    const auto is_same = [&](const auto& one) { return one.identity.is_same_process(identity); };
    return std::any_of(census.processes.begin(), census.processes.end(), is_same) ||
           std::any_of(census.totals_only.begin(), census.totals_only.end(), is_same);
}

}  // namespace

void count_totals_only(Counting& counting, const Census& census) {
    for (const TotalsOnly& one : census.totals_only) {
        ProcessFigures process = introduce(one.identity, "live", one.source);
        for (const DeviceTotals& totals : one.devices) {
            add_totals(counting, process, totals);
        }
        counting.figures.processes.push_back(std::move(process));
        const auto note = [&](const char* reason) {
            counting.figures.inexact.push_back({one.identity.pid, reason, one.devices.size(), false});
        };
        note("reserved size unknown: used counts the requested bytes");
        note("totals only: what else it holds, and how many allocations, is not known");
    }
}

void count_untracked(Counting& counting, const Census& census) {
    for (size_t i = 0; census.driver && i < census.driver->holders.size(); ++i) {
        const Holder& holder = census.driver->holders[i];
        if (is_counted(census, holder.identity)) {
            continue;
        }
        ProcessFigures process = introduce(holder.identity, "untracked", Source::driver);
        for (const DriverDevice& device : census.driver->devices) {
            if (!std::binary_search(holder.devices.begin(), holder.devices.end(), device.id)) {
                continue;
            }
            const size_t position = counting.table.position_of(device);
            HeldOnDevice held;
            held.id = counting.figures.devices[position].id;
            held.logical_id = device.id;
            held.memory.fill({0, 0, 0, false, false});
            process.devices.push_back(held);
            counting.workings[position].is_untold.fill(true);
        }
        const uint64_t devices = process.devices.size();
        counting.figures.processes.push_back(std::move(process));
        counting.figures.inexact.push_back({holder.identity.pid,
                                            "untracked: it has devices open and reports nothing, so what it "
                                            "holds is in no figure",
                                            devices, false});
    }
}

void note_unnamed_devices(Counting& counting, const Census& census) {
    for (size_t i = 0; census.driver && i < census.driver->devices.size(); ++i) {
        const DriverDevice& device = census.driver->devices[i];
        const bool is_held = std::any_of(
            census.driver->holders.begin(), census.driver->holders.end(), [&](const Holder& holder) {
                return std::binary_search(holder.devices.begin(), holder.devices.end(), device.id);
            });
        if (device.asic_id || !is_held) {
            continue;
        }
        counting.workings[counting.table.position_of(device)].is_untold.fill(true);
        counting.figures.inexact.push_back(
            {0,
             "device " + std::to_string(device.id) +
                 " has no ASIC id in the driver: what is held on it may stand under another number",
             1, false});
    }
}

}  // namespace ttmem::census
