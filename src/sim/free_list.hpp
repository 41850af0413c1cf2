// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace ttmem::sim {

// One stretch of a bank, free or taken.
struct Block {
    std::uint64_t address = 0;
    std::uint64_t size = 0;
    bool allocated = false;

    bool operator==(const Block&) const = default;
};

struct PoolStatistics {
    std::uint64_t size = 0;
    std::uint64_t allocated = 0;
    std::uint64_t free = 0;
    std::uint64_t largest_free = 0;

    bool operator==(const PoolStatistics&) const = default;
};

// The address space of one pool: first fit in the order of addresses, neighbours that are free become one at once.
// All figures are those of one bank.
//
// Bottom-up takes the low end of the lowest block that is large enough, top-down the high end of the highest one.
class FreeList {
public:
    FreeList(std::uint64_t base, std::uint64_t size);

    // Nothing where no single block is large enough, nor for a size of 0.
    [[nodiscard]] std::optional<std::uint64_t> allocate(std::uint64_t size, bool bottom_up);

    // False where nothing was allocated at that address.
    bool release(std::uint64_t address);
    void release_all();

    [[nodiscard]] PoolStatistics statistics() const;
    [[nodiscard]] std::vector<Block> blocks() const;
    [[nodiscard]] std::optional<std::uint64_t> lowest_allocated() const;

private:
    using Blocks = std::map<std::uint64_t, std::uint64_t>;  // address -> size

    [[nodiscard]] std::uint64_t take(Blocks::iterator block, std::uint64_t size, bool bottom_up);

    std::uint64_t base_;
    std::uint64_t size_;
    std::uint64_t allocated_bytes_ = 0;
    Blocks free_;
    Blocks allocated_;
};

}  // namespace ttmem::sim
