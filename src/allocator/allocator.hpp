// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "allocator/free_list.hpp"
#include "allocator/geometry.hpp"

namespace ttmem::allocator {

// A buffer's request. Pages are distributed over the banks of the pool, or over the cores of its shards.
struct BufferRequest {
    PoolKind pool = PoolKind::dram;
    uint64_t pages = 0;  // for a sharded buffer: pages of one shard times cores
    uint64_t page_size = 0;
    uint32_t shard_cores = 0;            // 0: interleaved
    std::optional<bool> bottom_up = {};  // absent: the pool's own direction
};

// The memory that a request needs, whether or not there is room. Sizes saturate at the maximum of 64 bits.
struct BufferFootprint {
    uint64_t aligned_page_size = 0;
    uint64_t aligned_size = 0;           // all pages with their padding
    uint64_t aligned_size_per_bank = 0;  // the fullest bank
    uint64_t reserved_per_bank = 0;      // bytes reserved in every bank of the pool
    uint32_t spread = 0;                 // banks, or cores of the shards
};

BufferFootprint footprint(const PoolGeometry& pool, const BufferRequest& request);

// A shard needs a bank of its own. A region of size 0 may have no banks: it has no room for anything.
constexpr bool has_cores(const PoolGeometry& pool, const BufferRequest& request) {
    return pool.banks == 0 || request.shard_cores <= pool.banks;
}

struct OutOfMemory {
    PoolKind pool = PoolKind::dram;
    BufferFootprint needed;
    PoolStatistics bank;

    // The text of tt-metal's exception. Users and scripts search for it.
    std::string message() const;
};

// The allocator of a mesh, a submesh or a single device. Each pool has one address space, which stands for all banks of
// all members in lockstep. Not thread-safe.
class Allocator {
public:
    explicit Allocator(const MemoryGeometry& memory);

    tl::expected<uint64_t, OutOfMemory> allocate(const BufferRequest& request);
    bool release(PoolKind pool, uint64_t address);
    void release_all();

    const MemoryGeometry& memory() const { return memory_; }
    PoolStatistics statistics(PoolKind pool) const;
    std::vector<BankBlock> blocks(PoolKind pool) const;

    // Circular buffers must end below this address. L1_SMALL lies above L1, so only L1 buffers can be in the way.
    std::optional<uint64_t> lowest_occupied_l1() const;

private:
    FreeList& list(PoolKind pool) { return lists_[static_cast<size_t>(pool)]; }
    const FreeList& list(PoolKind pool) const { return lists_[static_cast<size_t>(pool)]; }

    MemoryGeometry memory_;
    std::vector<FreeList> lists_;
};

}  // namespace ttmem::allocator
