// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <vector>

namespace ttmem::allocator {

// One range of a bank, free or allocated.
struct BankBlock {
    uint64_t address = 0;
    uint64_t size = 0;
    bool allocated = false;

    bool operator==(const BankBlock&) const = default;
};

struct PoolStatistics {
    uint64_t size = 0;
    uint64_t allocated = 0;
    uint64_t free = 0;
    uint64_t largest_free = 0;

    bool operator==(const PoolStatistics&) const = default;
};

// First fit in address order: bottom-up the lowest block that is large enough, top-down the highest one. `free` has pairs
// of address and size, by address. A request of 0 bytes fits nowhere: it would have no address of its own.
template <class Blocks>
auto first_fit(Blocks& free, uint64_t size, bool bottom_up) {
    auto found = free.end();
    if (size != 0 && bottom_up) {
        for (found = free.begin(); found != free.end() && found->second < size;) {
            ++found;
        }
    } else if (size != 0) {
        for (auto block = free.rbegin(); block != free.rend(); ++block) {
            if (block->second >= size) {
                return std::prev(block.base());
            }
        }
    }
    return found;
}

// A request takes the low end of its block bottom-up, and the high end top-down.
constexpr uint64_t place_in(uint64_t address, uint64_t length, uint64_t size, bool bottom_up) {
    return bottom_up ? address : address + length - size;
}

// The address space of one pool: first fit; free neighbours merge at once. All figures are per bank.
class FreeList {
public:
    FreeList(uint64_t base, uint64_t size);

    // Empty if no single block is large enough, or if the size is 0.
    std::optional<uint64_t> allocate(uint64_t size, bool bottom_up);

    // False if nothing was allocated at that address.
    bool release(uint64_t address);
    void release_all();

    PoolStatistics statistics() const;
    std::vector<BankBlock> blocks() const;
    std::optional<uint64_t> lowest_allocated() const;

private:
    using Blocks = std::map<uint64_t, uint64_t>;  // address -> size

    uint64_t take(Blocks::iterator block, uint64_t size, bool bottom_up);

    uint64_t base_;
    uint64_t size_;
    uint64_t allocated_bytes_ = 0;
    Blocks free_;
    Blocks allocated_;
};

}  // namespace ttmem::allocator
