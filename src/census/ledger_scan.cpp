// SPDX-License-Identifier: Apache-2.0
#include "census/ledger_scan.hpp"

#include <algorithm>

#include "census/arithmetic.hpp"

namespace ttmem::census {

namespace {

void add_block(SetScan& set, Kind kind, const segment::Allocation& a) {
    set.blocks[index_of(kind)].push_back({a.address, a.reserved});
    if ((a.flags & segment::kReservedUnknown) != 0) {
        set.has_unknown_sizes[index_of(kind)] = true;
    }
    if (kind == Kind::l1) {
        set.lowest_l1 = std::min(set.lowest_l1.value_or(a.address), a.address);
    }
}

void add_circular_buffer(SetScan& set, const segment::Allocation& a) {
    const uint64_t top = saturating_add(a.address, a.requested);  // its request is the size on one core
    if (top > set.cb_top) {
        set.cb_top = top;
        set.cb_top_cores = a.core_set;
    }
}

}  // namespace

std::map<uint32_t, SetScan> scan_ledger(const segment::Reader& reader) {
    std::map<uint32_t, SetScan> sets;
    reader.for_each_live([&](segment::SlotRef, const segment::Allocation& a) {
        const std::optional<Kind> kind = kind_of(a.kind);
        if (!kind || !segment::adds_bytes(a.flags)) {
            return true;
        }
        if (index_of(*kind) < kPoolKinds) {
            add_block(sets[a.set], *kind, a);
        } else if (*kind == Kind::cb) {
            add_circular_buffer(sets[a.set], a);
        }
        return true;
    });
    for (auto& [index, set] : sets) {
        for (auto& blocks : set.blocks) {
            std::sort(blocks.begin(), blocks.end(),
                      [](const Block& a, const Block& b) { return a.address < b.address; });
        }
    }
    return sets;
}

}  // namespace ttmem::census
