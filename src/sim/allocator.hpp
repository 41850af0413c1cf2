// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "sim/free_list.hpp"
#include "sim/geometry.hpp"

namespace ttmem::sim {

// What a buffer asks for. Its pages are dealt out over the banks of the pool, or over the cores of its shards.
struct BufferRequest {
    Pool pool = Pool::kDram;
    std::uint64_t pages = 0;  // for a sharded buffer: pages of one shard times cores
    std::uint64_t page_size = 0;
    std::uint32_t shard_cores = 0;       // 0: interleaved
    std::optional<bool> bottom_up = {};  // absent: as the pool grows
};

// What it comes to, before anyone looks whether there is room. Sizes that would not fit in 64 bits stop at the top.
struct BufferFootprint {
    std::uint64_t aligned_page_size = 0;
    std::uint64_t aligned_size = 0;           // all pages with their padding
    std::uint64_t aligned_size_per_bank = 0;  // the fullest bank
    std::uint64_t reserved_per_bank = 0;      // what the allocator takes from every bank of the pool
    std::uint32_t spread = 0;                 // banks, or cores of the shards
};

[[nodiscard]] BufferFootprint footprint(const PoolGeometry& pool, const BufferRequest& request);

struct OutOfMemory {
    Pool pool = Pool::kDram;
    BufferFootprint needed;
    PoolStatistics bank;

    // The sentence that tt-metal throws; users and scripts know it.
    [[nodiscard]] std::string message() const;
};

// The allocator of a mesh, a submesh or a single device: one address space a pool, which stands for all banks of all
// members in lockstep. Not for several threads at once.
class Allocator {
public:
    explicit Allocator(const MemoryGeometry& memory);

    [[nodiscard]] tl::expected<std::uint64_t, OutOfMemory> allocate(const BufferRequest& request);
    bool release(Pool pool, std::uint64_t address);
    void release_all();

    [[nodiscard]] const MemoryGeometry& memory() const { return memory_; }
    [[nodiscard]] PoolStatistics statistics(Pool pool) const;
    [[nodiscard]] std::vector<Block> blocks(Pool pool) const;

    // What circular buffers must stay below. L1_SMALL lies above L1, so only buffers of L1 can be in their way.
    [[nodiscard]] std::optional<std::uint64_t> lowest_occupied_l1() const;

private:
    [[nodiscard]] FreeList& list(Pool pool) { return lists_[static_cast<std::size_t>(pool)]; }
    [[nodiscard]] const FreeList& list(Pool pool) const { return lists_[static_cast<std::size_t>(pool)]; }

    MemoryGeometry memory_;
    std::vector<FreeList> lists_;
};

}  // namespace ttmem::sim
