// SPDX-License-Identifier: Apache-2.0
#include "allocator/allocator.hpp"

#include <fmt/format.h>

namespace ttmem::allocator {

BufferFootprint footprint(const PoolGeometry& pool, const BufferRequest& request) {
    BufferFootprint result;
    result.spread = request.shard_cores != 0 ? request.shard_cores : pool.banks;
    result.aligned_page_size = round_up_or_most(request.page_size, pool.page_alignment);
    result.aligned_size = multiply_or_most(request.pages, result.aligned_page_size);
    // A pool without banks can hold nothing: everything then counts as for one bank, and is refused.
    const uint64_t pages_per_bank = divide_up(request.pages, result.spread == 0 ? 1 : result.spread);
    result.aligned_size_per_bank = multiply_or_most(pages_per_bank, result.aligned_page_size);
    result.reserved_per_bank = round_up_or_most(result.aligned_size_per_bank, pool.bank_alignment);
    return result;
}

std::string OutOfMemory::message() const {
    return fmt::format(
        "Out of Memory: Not enough space to allocate {} B {} buffer across {} banks, where each bank needs "
        "to store "
        "{} B, but bank size is {} B (allocated: {} B, free: {} B, largest free block: {} B)",
        needed.aligned_size, pool_title(pool), needed.spread, needed.reserved_per_bank, bank.size,
        bank.allocated, bank.free, bank.largest_free);
}

Allocator::Allocator(const MemoryGeometry& memory) : memory_(memory) {
    lists_.reserve(kPoolCount);
    for (const PoolGeometry& pool : memory.pools) {
        lists_.emplace_back(pool.base, pool.size);
    }
}

tl::expected<uint64_t, OutOfMemory> Allocator::allocate(const BufferRequest& request) {
    const PoolGeometry& pool = memory_[request.pool];
    const BufferFootprint needed = footprint(pool, request);
    const bool bottom_up = request.bottom_up.value_or(pool.bottom_up);
    if (const auto address = list(request.pool).allocate(needed.reserved_per_bank, bottom_up)) {
        return *address;
    }
    return tl::unexpected(OutOfMemory{request.pool, needed, statistics(request.pool)});
}

bool Allocator::release(PoolKind pool, uint64_t address) { return list(pool).release(address); }

void Allocator::release_all() {
    for (FreeList& each : lists_) {
        each.release_all();
    }
}

PoolStatistics Allocator::statistics(PoolKind pool) const { return list(pool).statistics(); }

std::vector<BankBlock> Allocator::blocks(PoolKind pool) const { return list(pool).blocks(); }

std::optional<uint64_t> Allocator::lowest_occupied_l1() const {
    return list(PoolKind::l1).lowest_allocated();
}

}  // namespace ttmem::allocator
