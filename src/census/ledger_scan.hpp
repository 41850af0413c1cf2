// SPDX-License-Identifier: Apache-2.0
#pragma once

// What only a pass over the ledger tells, by device set: where blocks lie, and how high circular buffers reach.

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "census/free_space.hpp"
#include "census/kind.hpp"
#include "segment/reader.hpp"

namespace ttmem::census {

struct SetScan {
    std::array<std::vector<Block>, kPoolKinds> blocks;  // by address
    std::array<bool, kPoolKinds> has_unknown_sizes{};   // a block whose reserved size is not known
    std::optional<uint64_t> lowest_l1;                  // the lowest address of an L1 buffer
    uint64_t cb_top = 0;        // where the highest circular buffer ends; 0: there are none
    uint16_t cb_top_cores = 0;  // the core set of that one; 0: not known
};

// By index of the set. Allocations that add no bytes lie in the memory of others, and are left out.
std::map<uint32_t, SetScan> scan_ledger(const segment::Reader& reader);

}  // namespace ttmem::census
