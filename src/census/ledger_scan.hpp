// SPDX-License-Identifier: Apache-2.0
#pragma once

// What only a pass over the ledger tells, by device set: which block is the largest free one, and how high circular buffers
// reach. The outcome is small and is kept as long as nothing happens in the ledger.

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "census/free_space.hpp"
#include "census/kind.hpp"
#include "segment/reader.hpp"

namespace ttmem::census {

struct SetScan {
    // For each kind that holds something, the largest free block of each bank that differs: members are mostly alike.
    std::array<std::vector<std::pair<Bank, std::optional<uint64_t>>>, kPoolKinds> free;
    std::optional<uint64_t> lowest_l1;  // the lowest address of an L1 buffer
    uint64_t cb_top = 0;                // where the highest circular buffer ends; 0: there are none
    uint16_t cb_top_cores = 0;          // the core set of that one; 0: not known

    std::optional<uint64_t> largest_free(size_t kind, const Bank& bank) const;
};

using SetScans = std::map<uint32_t, SetScan>;  // by index of the set

// Of one ledger. Several threads may ask at the same time.
class LedgerScan {
public:
    // From the last pass where nothing has happened since, else from a new one. Allocations that add no bytes lie in the
    // memory of others, and are left out.
    std::shared_ptr<const SetScans> of(const segment::Reader& reader);

private:
    std::mutex mutex_;  // also keeps a second asker from the same pass: it waits for the first one's
    uint64_t events_ = 0;
    std::vector<Bank> banks_;
    std::shared_ptr<const SetScans> last_;  // only if the ledger was quiet
};

}  // namespace ttmem::census
