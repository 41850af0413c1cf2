// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace ttmem::sim {

// One range of a bank, free or allocated.
struct Block {
    uint64_t address = 0;
    uint64_t size = 0;
    bool allocated = false;

    bool operator==(const Block&) const = default;
};

struct PoolStatistics {
    uint64_t size = 0;
    uint64_t allocated = 0;
    uint64_t free = 0;
    uint64_t largest_free = 0;

    bool operator==(const PoolStatistics&) const = default;
};

// The address space of one pool: first fit in address order; free neighbours merge at once. All figures are per bank.
//
// Bottom-up takes the low end of the lowest block that is large enough, top-down the high end of the highest one.
class FreeList {
public:
    FreeList(uint64_t base, uint64_t size);

    // Empty if no single block is large enough, or if the size is 0.
    std::optional<uint64_t> allocate(uint64_t size, bool bottom_up);

    // False if nothing was allocated at that address.
    bool release(uint64_t address);
    void release_all();

    PoolStatistics statistics() const;
    std::vector<Block> blocks() const;
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

}  // namespace ttmem::sim
