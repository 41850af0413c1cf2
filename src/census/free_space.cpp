// SPDX-License-Identifier: Apache-2.0
#include "census/free_space.hpp"

#include <algorithm>
#include <cassert>

#include "census/arithmetic.hpp"

namespace ttmem::census {

std::optional<uint64_t> largest_free_block(const std::vector<Block>& by_address, const Bank& bank) {
    if (!bank.is_known()) {
        return std::nullopt;
    }
    assert(std::is_sorted(by_address.begin(), by_address.end(),
                          [](const Block& a, const Block& b) { return a.address < b.address; }));
    const uint64_t end = saturating_add(bank.base, bank.size);
    uint64_t free_from = bank.base;
    uint64_t largest = 0;
    for (const Block& block : by_address) {
        const uint64_t in_bank = in_one_bank(block.reserved, bank);
        if (block.address < bank.base || block.address > end || in_bank > end - block.address) {
            return std::nullopt;
        }
        if (block.address > free_from) {
            largest = std::max(largest, block.address - free_from);
        }
        free_from = std::max(free_from, block.address + in_bank);
    }
    assert(free_from <= end);
    return std::max(largest, end - free_from);
}

}  // namespace ttmem::census
