// SPDX-License-Identifier: Apache-2.0
#include "census/counting.hpp"
#include "census/device_facts.hpp"
#include "census/ledger_scan.hpp"

namespace ttmem::census {

namespace {

// The largest free blocks of a set on each of its members.
void add_free_space(Counting& counting, size_t report, uint64_t members, size_t kind, const SetScan& scan) {
    const auto& devices = counting.reports[report].devices;
    for (size_t entry = 0; entry < devices.size(); ++entry) {
        const auto position = counting.table.position(report, entry);
        if (position && (members >> entry & 1) != 0) {
            const Bank bank = bank_of(*devices[entry], static_cast<Kind>(kind));
            counting.workings[*position].free[kind].add(scan.largest_free(kind, bank));
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

}  // namespace

void count_ledger(Counting& counting, size_t report) {
    const Process& process = *counting.reports[report].process;
    const std::shared_ptr<const SetScans> scans = process.scan->of(*process.ledger);
    for (const segment::SetTotals& set : counting.reports[report].totals.sets) {
        const auto scan = scans->find(set.index);
        if (scan == scans->end()) {
            continue;
        }
        for (size_t kind = 0; kind < kPoolKinds; ++kind) {
            if (!scan->second.free[kind].empty()) {
                add_free_space(counting, report, set.set.members, kind, scan->second);
            }
        }
        for (const size_t position : counting.table.positions(report, set.set.members)) {
            add_reach(counting.workings[position].l1_reach, *process.ledger, scan->second);
        }
    }
}

}  // namespace ttmem::census
