// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace ttmem::census {

// One live allocation in the address space of its allocator.
struct Block {
    uint64_t address = 0;
    uint64_t reserved = 0;  // over all banks
};

// One of several identical banks. An allocation has the same address in every bank.
struct Bank {
    uint64_t base = 0;
    uint64_t size = 0;
    uint32_t banks = 0;

    bool is_known() const { return banks != 0; }
    bool operator==(const Bank&) const = default;
};

// The bytes of an allocation in one bank, from those in all banks. If the bank is not known, all of them.
inline uint64_t in_one_bank(uint64_t reserved, const Bank& bank) {
    return bank.is_known() ? reserved / bank.banks + (reserved % bank.banks != 0 ? 1 : 0) : reserved;
}

// The largest free block of a bank, given its live blocks by address. Empty if the bank is not known, or if the
// blocks do not fit into it: then the allocator follows other rules.
std::optional<uint64_t> largest_free_block(const std::vector<Block>& by_address, const Bank& bank);

}  // namespace ttmem::census
