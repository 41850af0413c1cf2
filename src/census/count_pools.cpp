// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include "census/arithmetic.hpp"
#include "census/counting.hpp"

namespace ttmem::census {

namespace {

bool holds_something(const segment::PoolTotals& pool) {
    return (pool.used | pool.requested | pool.count | pool.planned | pool.views) != 0;
}

bool has_negatives(const segment::PoolTotals& pool) {
    return is_below_zero(pool.used) || is_below_zero(pool.requested) || is_below_zero(pool.count) ||
           is_below_zero(pool.reserved_unknown);
}

segment::PoolTotals without_negatives(segment::PoolTotals pool) {
    for (uint64_t* counter : {&pool.used, &pool.requested, &pool.count, &pool.reserved_unknown}) {
        *counter = is_below_zero(*counter) ? 0 : *counter;
    }
    return pool;
}

// Adds the pools of one set to one of its members, and to what the process holds there.
void count_set(DeviceFigures& device, Workings& workings, HeldOnDevice& held, size_t report,
               const segment::SetTotals& set) {
    for (uint32_t i = 0; i < segment::kKinds; ++i) {
        const auto pool_kind = static_cast<segment::Kind>(i);
        const auto kind = kind_of(pool_kind);
        if (!kind || *kind == Kind::system_memory) {
            continue;
        }
        const segment::PoolTotals pool = without_negatives(set.pools[i]);
        MemoryFigures& memory = device.memory[index_of(*kind)];
        add_to(memory, pool);
        add_to(held.memory[index_of(*kind)], pool);
        memory.planned = saturating_add(memory.planned, pool.planned);
        memory.views = saturating_add(memory.views, pool.views);
        if (segment::is_kernel(pool_kind)) {
            uint64_t& bytes = device.kernel_by_type[kernel_type_of(pool_kind)];
            bytes = saturating_add(bytes, pool.used);
        }
        if (pool.peak != 0 || pool.used != 0) {
            workings.peaks[index_of(*kind)].push_back(
                {report, set.set.opened_ticks, set.set.closed_ticks, pool.used, pool.peak});
        }
    }
}

uint32_t logical_id(const Counting& counting, size_t report, size_t position) {
    const auto& devices = counting.reports[report].devices;
    for (size_t entry = 0; entry < devices.size(); ++entry) {
        if (devices[entry] && counting.table.position(report, entry) == position) {
            return devices[entry]->logical_id;
        }
    }
    return 0;
}

}  // namespace

std::vector<HeldOnDevice> count_pools(Counting& counting, size_t report) {
    std::map<size_t, HeldOnDevice>
        held;  // by position: a device is held while a set on it is open or not empty
    bool recycled = false;
    for (const segment::SetTotals& set : counting.reports[report].totals.sets) {
        const bool is_held =
            set.is_open() || std::any_of(set.pools.begin(), set.pools.end(), holds_something);
        HeldOnDevice not_held;
        for (const size_t position : counting.table.positions(report, set.set.members)) {
            count_set(counting.figures.devices[position], counting.workings[position],
                      is_held ? held[position] : not_held, report, set);
        }
        recycled = recycled || set.generation > 1;
    }
    for (size_t entry = 0; recycled && entry < counting.reports[report].devices.size(); ++entry) {
        if (const auto position = counting.table.position(report, entry)) {
            counting.workings[*position].peaks_lost = true;
        }
    }
    std::vector<HeldOnDevice> result;
    for (auto& [position, on_device] : held) {
        on_device.id = counting.figures.devices[position].id;
        on_device.logical_id = logical_id(counting, report, position);
        counting.workings[position].is_told.fill(true);
        result.push_back(on_device);
    }
    return result;
}

void note_inexactness(Counting& counting, size_t report) {
    const Process& process = *counting.reports[report].process;
    const segment::Totals& totals = counting.reports[report].totals;
    const auto note = [&](const char* reason, uint64_t count) {
        if (count != 0) {
            counting.figures.inexact.push_back({process.identity.pid, reason, count, false});
        }
    };
    for (uint32_t i = 0; i < segment::kInexactCounters; ++i) {
        const auto what = static_cast<segment::Inexact>(i);
        note(segment::reason(what), process.ledger->inexact(what));
    }
    uint64_t reserved_unknown = 0;
    uint64_t negative = 0;
    for (const segment::SetTotals& set : totals.sets) {
        for (const segment::PoolTotals& pool : set.pools) {
            reserved_unknown = saturating_add(reserved_unknown, without_negatives(pool).reserved_unknown);
            negative += has_negatives(pool) ? 1u : 0u;
        }
    }
    note("reserved size unknown: used counts the requested bytes", reserved_unknown);
    note("classic client older than the daemon: what it held before is not known",
         process.is_older_than_ledger ? 1 : 0);
    if (totals.settling) {
        note("settling: events were recorded meanwhile", 1);
    } else {
        note("pools below zero: shown as 0", negative);
    }
}

}  // namespace ttmem::census
