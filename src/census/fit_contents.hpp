// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the pools of a process hold, and where: the input of the allocator's rules.

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "allocator/bank_snapshot.hpp"
#include "allocator/geometry.hpp"
#include "base/error.hpp"
#include "census/report.hpp"
#include "census/selection.hpp"

namespace ttmem::census {

// What an answer needs of a live allocation.
struct PlacedBuffer {
    uint64_t slot = 0;  // and its generation
    uint64_t address = 0;
    uint64_t reserved = 0;
    uint64_t owner = 0;
    uint64_t ticks = 0;
    uint32_t name = 0;

    bool operator==(const PlacedBuffer&) const = default;
};

// What one pool of a set holds.
struct SetPool {
    std::vector<PlacedBuffer> live;
    uint64_t used = 0;
    bool has_unknown_sizes = false;
    bool has_addresses_per_core = false;

    bool operator==(const SetPool&) const = default;
};

// What a pass over one ledger finds: pools by set, and circular buffers.
struct FitContents {
    std::map<std::pair<uint8_t, Kind>, SetPool> pools;
    uint64_t cb_end = 0;  // of the highest one; 0: none
    uint64_t kept = 0;
    bool is_cut = false;  // there are more than kMostFitBlocks

    const SetPool& of(uint32_t set, Kind kind) const;
};

// The contents at one moment: of the pools of `kind`, and for a kind in L1 of DRAM too. Events of other pools do not matter. Empty if
// these pools changed at each attempt.
std::optional<FitContents> read_contents_at_once(const Selection& selection, const SelectedLedger& ledger,
                                                 Kind kind);

// The geometry that all devices of a set have. Returns the problem if it is not known.
base::Expected<allocator::PoolGeometry> geometry_of_set(const Report& report, uint64_t members, Kind kind);

// Returns the problem if the pool follows other rules.
base::Expected<allocator::BankSnapshot> snapshot_of(const allocator::PoolGeometry& pool,
                                                    const SetPool& contents);

}  // namespace ttmem::census
