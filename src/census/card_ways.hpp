// SPDX-License-Identifier: Apache-2.0
#pragma once

// What would have made the request of a failure card fit.

#include <optional>
#include <string>
#include <utility>

#include "allocator/bank_snapshot.hpp"
#include "allocator/geometry.hpp"
#include "base/error.hpp"
#include "census/circular_buffers.hpp"
#include "census/selection.hpp"
#include "census/ways_out.hpp"
#include "segment/reader.hpp"

namespace ttmem::census {

// What a card does not have: other pools of its allocator, as they are now.
struct OtherPools {
    std::optional<std::pair<allocator::PoolGeometry, allocator::BankSnapshot>> dram;
    std::optional<uint64_t> room_below;  // of a region: the size of the pool from which it is cut
    uint64_t l1_small_size = 0;          // bytes of the region in each bank
    uint64_t l1_small_peak = 0;          // its highest use in one bank
};

// Returns why nothing can be proposed.
base::Expected<WaysOut> ways_out_of(const segment::CardContents& card, const SelectedLedger& ledger,
                                    CoreMasks& masks, const OtherPools& others);

}  // namespace ttmem::census
