// SPDX-License-Identifier: Apache-2.0
#include "census/figures_builder.hpp"

#include <cassert>

#include "census/device_facts.hpp"
#include "census/ledger_scan.hpp"

namespace ttmem::census {

namespace {

// Adds the largest free blocks of a set on each of its members.
void add_free_space(FiguresBuilder& builder, size_t report, uint64_t members, size_t kind,
                    const SetScan& scan) {
    const auto& devices = builder.reports[report].devices;
    for (size_t entry = 0; entry < devices.size(); ++entry) {
        const auto position = builder.table.position(report, entry);
        if (position && (members >> entry & 1) != 0) {
            assert(devices[entry]);  // entries that could not be read have no position
            const Bank bank = bank_of(*devices[entry], static_cast<Kind>(kind));
            builder.partial[*position].free[kind].add(scan.largest_free(kind, bank));
        }
    }
}

void add_reach(L1Reach& reach, const segment::Reader& ledger, const SetScan& scan) {
    const auto cores = ledger.cores(scan.cb_top_cores);
    reach.add_circular_buffer(scan.cb_top, cores ? first_core(*cores) : std::nullopt);
    if (scan.lowest_l1) {
        reach.add_buffer(*scan.lowest_l1);
    }
}

// The values of a ledger that was not scanned are unknown on the devices where the process holds such memory.
void skip_ledger(FiguresBuilder& builder, size_t report) {
    for (const segment::SetTotals& set : builder.reports[report].totals.sets) {
        const auto holds = [&](segment::AllocationKind kind) {
            return set.pools[static_cast<size_t>(kind)].used != 0;
        };
        const bool has_reach = holds(segment::AllocationKind::l1) || holds(segment::AllocationKind::cb);
        for (const size_t position : builder.table.positions(report, set.set.members)) {
            PartialFigures& partial = builder.partial[position];
            partial.is_l1_reach_unknown = partial.is_l1_reach_unknown || has_reach;
            for (size_t kind = 0; kind < kPoolKinds; ++kind) {
                if (set.pools[memory_info_index(static_cast<Kind>(kind))].used != 0) {
                    partial.free[kind].add(std::nullopt);
                }
            }
        }
    }
}

}  // namespace

void add_ledger(FiguresBuilder& builder, size_t report) {
    const Process& process = *builder.reports[report].process;
    if (process.has_only_totals) {
        skip_ledger(builder, report);
        return;
    }
    const std::shared_ptr<const SetScans> scans =
        process.scan->of(*process.ledger, builder.shares.of(process.identity.uid).slots);
    if (!scans) {
        builder.is_scan_skipped[report] = true;
        skip_ledger(builder, report);
        return;
    }
    for (const segment::SetTotals& set : builder.reports[report].totals.sets) {
        const auto scan = scans->find(set.index);
        if (scan == scans->end()) {
            continue;
        }
        for (size_t kind = 0; kind < kPoolKinds; ++kind) {
            if (!scan->second.free[kind].empty()) {
                add_free_space(builder, report, set.set.members, kind, scan->second);
            }
        }
        for (const size_t position : builder.table.positions(report, set.set.members)) {
            add_reach(builder.partial[position].l1_reach, *process.ledger, scan->second);
        }
    }
}

}  // namespace ttmem::census
