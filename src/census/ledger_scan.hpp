// SPDX-License-Identifier: Apache-2.0
#pragma once

// Results per device set that need a pass over the ledger: the largest free blocks, and the end of circular buffers.
// They are small, and are cached until the ledger changes.

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
    // Per kind that holds something: the largest free block for each distinct bank. Most members of a set have the
    // same bank.
    std::array<std::vector<std::pair<Bank, std::optional<uint64_t>>>, kPoolKinds> free;
    std::optional<uint64_t> lowest_l1;  // the lowest address of an L1 buffer
    uint64_t cb_top = 0;                // the end address of the highest circular buffer; 0: none
    uint16_t cb_top_cores = 0;          // the core set of that buffer; 0: unknown

    std::optional<uint64_t> largest_free(size_t kind, const Bank& bank) const;
};

using SetScans = std::map<uint32_t, SetScan>;  // by index of the set

// The number of events that a ledger has recorded. Empty while one is being recorded.
std::optional<uint64_t> events_if_quiet(const segment::Reader& reader);

// Scans one ledger. Thread-safe.
class LedgerScan {
public:
    // Returns the last result if the ledger has not changed since, else makes a new pass. Allocations that add no
    // bytes lie in the memory of others, and are left out. A pass takes 1 of `work` per slot, and 1 per block and
    // further kind of bank. Returns null if the work does not suffice.
    std::shared_ptr<const SetScans> of(const segment::Reader& reader, uint64_t& work);

private:
    std::mutex mutex_;  // held during a pass, so that a second caller waits for its result
    uint64_t events_ = 0;
    std::vector<Bank> banks_;
    std::shared_ptr<const SetScans> last_;  // only if the ledger was quiet
};

}  // namespace ttmem::census
