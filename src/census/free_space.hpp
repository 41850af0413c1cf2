// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace ttmem::census {

// One live allocation in the address space of its allocator.
struct Block {
    uint64_t address = 0;
    uint64_t reserved = 0;  // in all banks together
};

// A bank, of which there are several alike: an allocation takes the same place in each of them.
struct Bank {
    uint64_t base = 0;
    uint64_t size = 0;
    uint32_t banks = 0;

    bool is_known() const { return banks != 0; }
    bool operator==(const Bank&) const = default;
};

// The largest free block of a bank, given what is live in it, by address. Nothing where the bank is not known or the
// blocks don't lie in it: then they were given out by other rules than these.
std::optional<uint64_t> largest_free_block(const std::vector<Block>& by_address, const Bank& bank);

}  // namespace ttmem::census
