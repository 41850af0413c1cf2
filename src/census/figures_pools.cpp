// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include "census/arithmetic.hpp"
#include "census/figures_builder.hpp"

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

// Adds the pools of one set to one of its members, and to the holdings of the process on it. Of a process that is known to
// have ended, the device has only the peak: what it held is free.
void add_set(DeviceFigures& device, PartialFigures& partial, DeviceHoldings& held, size_t report,
             const Lifetime& lifetime, const segment::SetTotals& set, bool is_peak_kept) {
    for (uint32_t i = 0; i < segment::kKinds; ++i) {
        const auto pool_kind = static_cast<segment::AllocationKind>(i);
        const auto kind = kind_of(pool_kind);
        if (!kind || *kind == Kind::system_memory) {
            continue;
        }
        const segment::PoolTotals pool = without_negatives(set.pools[i]);
        if (!is_peak_kept && (pool.peak != 0 || pool.used != 0)) {
            partial.peaks[index_of(*kind)].push_back(
                {report, set.set.opened_ticks, set.set.closed_ticks, pool.used, pool.peak, lifetime});
        }
        add_to(held.memory[index_of(*kind)], pool);
        if (lifetime.ended) {
            continue;
        }
        MemoryFigures& memory = device.memory[index_of(*kind)];
        add_to(memory, pool);
        memory.planned = saturating_add(memory.planned, pool.planned);
        memory.views = saturating_add(memory.views, pool.views);
        if (segment::is_kernel(pool_kind)) {
            uint64_t& bytes = device.kernel_by_type[kernel_type_of(pool_kind)];
            bytes = saturating_add(bytes, pool.used);
        }
    }
}

// The peak that the process itself keeps for a device, over all its sets.
void add_chip(PartialFigures& partial, size_t report, const Lifetime& lifetime, const segment::Totals& totals,
              size_t entry) {
    for (uint32_t i = 0; i < segment::kChipKinds; ++i) {
        const auto kind = kind_of(static_cast<segment::AllocationKind>(i));
        if (!kind || *kind == Kind::system_memory) {
            continue;
        }
        uint64_t used = 0;
        for (const segment::SetTotals& set : totals.sets) {
            for (uint32_t pool = 0; pool < segment::kKinds && (set.set.members >> entry & 1) != 0; ++pool) {
                used = saturating_add(
                    used, segment::chip_kind(pool) == i ? without_negatives(set.pools[pool]).used : 0);
            }
        }
        const uint64_t peak = (*totals.chips[entry])[i];
        if (peak != 0 || used != 0) {
            partial.peaks[index_of(*kind)].push_back({report, 0, 0, used, peak, lifetime});
        }
    }
}

// By position: the entry of the device table whose peaks the process keeps itself. A device with two entries has none.
std::map<size_t, size_t> kept_peaks(const FiguresBuilder& builder, size_t report) {
    const segment::Totals& totals = builder.reports[report].totals;
    std::map<size_t, size_t> kept;
    std::map<size_t, size_t> entries;
    const size_t count = std::min(totals.chips.size(), builder.reports[report].devices.size());
    for (size_t entry = 0; entry < count; ++entry) {
        if (const auto position = builder.table.position(report, entry)) {
            ++entries[*position];
            if (totals.chips[entry]) {
                kept[*position] = entry;
            }
        }
    }
    std::erase_if(kept, [&](const auto& one) { return entries[one.first] != 1; });
    return kept;
}

uint32_t logical_id(const FiguresBuilder& builder, size_t report, size_t position) {
    const auto& devices = builder.reports[report].devices;
    for (size_t entry = 0; entry < devices.size(); ++entry) {
        if (devices[entry] && builder.table.position(report, entry) == position) {
            return devices[entry]->logical_id;
        }
    }
    return 0;
}

}  // namespace

std::vector<DeviceHoldings> add_pools(FiguresBuilder& builder, size_t report) {
    // By position. A process holds a device while it has a set on it that is open or not empty.
    std::map<size_t, DeviceHoldings> held;
    bool recycled = false;
    const std::map<size_t, size_t> kept = kept_peaks(builder, report);
    const Lifetime& lifetime = builder.reports[report].process->lifetime;
    for (const auto& [position, entry] : kept) {
        add_chip(builder.partial[position], report, lifetime, builder.reports[report].totals, entry);
    }
    for (const segment::SetTotals& set : builder.reports[report].totals.sets) {
        const bool is_held =
            set.is_open() || std::any_of(set.pools.begin(), set.pools.end(), holds_something);
        DeviceHoldings not_held;
        for (const size_t position : builder.table.positions(report, set.set.members)) {
            add_set(builder.figures.devices[position], builder.partial[position],
                    is_held ? held[position] : not_held, report, lifetime, set, kept.contains(position));
        }
        recycled = recycled || set.generation > 1;
    }
    for (size_t entry = 0; recycled && entry < builder.reports[report].devices.size(); ++entry) {
        const auto position = builder.table.position(report, entry);
        if (position && !kept.contains(*position)) {
            builder.partial[*position].peaks_lost = true;
        }
    }
    std::vector<DeviceHoldings> result;
    for (auto& [position, on_device] : held) {
        on_device.id = builder.figures.devices[position].id;
        on_device.logical_id = logical_id(builder, report, position);
        builder.partial[position].is_reported.fill(true);
        if (builder.reports[report].totals.is_cut) {
            builder.partial[position].is_count_unreported = true;
            for (Holding& holding : on_device.memory) {
                holding.is_count_known = false;
            }
        }
        result.push_back(on_device);
    }
    return result;
}

void note_inexactness(FiguresBuilder& builder, size_t report) {
    const Process& process = *builder.reports[report].process;
    const segment::Totals& totals = builder.reports[report].totals;
    const auto note = [&](Reason reason, uint64_t count) {
        if (count != 0) {
            builder.figures.inexact.push_back({process.identity.pid, reason, count});
        }
    };
    for (uint32_t i = 0; i < segment::kInexactCounters; ++i) {
        const auto what = static_cast<segment::Inexact>(i);
        note(reason_of(what), process.ledger->inexact(what));
    }
    uint64_t reserved_unknown = 0;
    uint64_t negative = 0;
    for (const segment::SetTotals& set : totals.sets) {
        for (const segment::PoolTotals& pool : set.pools) {
            reserved_unknown = saturating_add(reserved_unknown, without_negatives(pool).reserved_unknown);
            negative += has_negatives(pool) ? 1u : 0u;
        }
    }
    note(Reason::reserved_unknown, reserved_unknown);
    note(Reason::started_before_ledger, process.is_older_than_ledger ? 1 : 0);
    note(Reason::changed_user, process.has_changed_user ? 1 : 0);
    note(Reason::work_limit, totals.is_cut || builder.is_scan_skipped[report] ? 1 : 0);
    note(Reason::too_many_devices, builder.table.left_out(report));
    if (totals.settling) {
        note(Reason::settling, 1);
    } else {
        note(Reason::negative_pool, negative);
    }
}

}  // namespace ttmem::census
