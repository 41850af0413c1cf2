// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

// The place of each pool in a bank.
//
//     DRAM bank                                     L1 of one core
//     +--------------------------+ dram_bank_size   +--------------------------+ l1_size
//     | TRACE (if set at open)   |                  | L1_SMALL (if set at open)|
//     +--------------------------+                  +--------------------------+
//     | DRAM pool                |                  | L1 pool                  |
//     |                          |                  |  (circular buffers grow  |
//     |                          |                  |   from its base upwards) |
//     +--------------------------+ dram_base        +--------------------------+ l1_base
//     | reserved                 |                  | kernel config ring       |
//     +--------------------------+ 0                | firmware, mailboxes      |
//                                                   +--------------------------+ 0
namespace ttmem::allocator {

// The four pools that buffers come from. Circular buffers and kernels have no pool.
enum class PoolKind : uint8_t { dram, l1, l1_small, trace };
inline constexpr PoolKind kPools[] = {PoolKind::dram, PoolKind::l1, PoolKind::l1_small, PoolKind::trace};
inline constexpr size_t kPoolCount = 4;

// "dram", as in logs and JSON, and "DRAM", as in messages.
std::string_view pool_name(PoolKind pool);
std::string_view pool_title(PoolKind pool);
std::optional<PoolKind> pool_from_name(std::string_view name);

// Pages in L1 are aligned to this on all supported architectures. Pages in DRAM have the alignment of DRAM.
inline constexpr uint32_t kL1PageAlignment = 16;

constexpr bool is_in_l1(PoolKind pool) { return pool == PoolKind::l1 || pool == PoolKind::l1_small; }

// DRAM and TRACE grow from the lowest address, L1 and L1_SMALL from the highest.
constexpr bool grows_bottom_up(PoolKind pool) { return !is_in_l1(pool); }

// One pool in one bank. All banks of a pool are identical and change in lockstep, so this describes every bank.
struct PoolGeometry {
    uint64_t base = 0;
    uint64_t size = 0;  // allocatable bytes per bank
    uint32_t banks = 0;
    uint32_t page_alignment = 1;
    uint32_t bank_alignment = 1;  // every reservation in a bank is a multiple of this
    bool bottom_up = true;

    uint64_t end() const { return base + size; }
    uint64_t capacity() const { return size * banks; }
    bool operator==(const PoolGeometry&) const = default;
};

struct MemoryGeometry {
    PoolGeometry pools[kPoolCount];

    const PoolGeometry& operator[](PoolKind pool) const { return pools[static_cast<size_t>(pool)]; }
    PoolGeometry& operator[](PoolKind pool) { return pools[static_cast<size_t>(pool)]; }
    bool operator==(const MemoryGeometry&) const = default;
};

// The memory of a chip before regions are cut from it.
struct ChipMemory {
    uint64_t l1_size = 0;
    uint64_t l1_base = 0;
    uint32_t cores = 0;
    uint64_t dram_bank_size = 0;
    uint64_t dram_base = 0;
    uint32_t dram_banks = 0;
    uint32_t l1_alignment = kL1PageAlignment;  // of L1 pages
    uint32_t dram_alignment = 1;               // of DRAM pages, and of every reservation in a bank, in L1 too
};

// The regions that a process sets when it opens a device. Both are 0 by default.
struct RegionSizes {
    uint64_t l1_small = 0;  // bytes in each L1 bank
    uint64_t trace = 0;     // bytes over all DRAM banks together
};

// The runtime rounds the share of the trace region in one bank up to this.
inline constexpr uint64_t kTraceAlignment = 8192;

// Throws std::invalid_argument if a region leaves no room for the pool that contains it.
MemoryGeometry cut_regions(const ChipMemory& chip, const RegionSizes& regions);

constexpr uint64_t round_up(uint64_t value, uint64_t multiple) {
    return (value + multiple - 1) / multiple * multiple;
}
constexpr uint64_t divide_up(uint64_t value, uint64_t divisor) {
    return value / divisor + (value % divisor != 0 ? 1 : 0);
}

// Sizes of requests saturate: a request near 2^64 bytes must not become a small one.
inline constexpr uint64_t kMostBytes = UINT64_MAX;
constexpr uint64_t multiply_or_most(uint64_t a, uint64_t b) {
    uint64_t result = 0;
    return __builtin_mul_overflow(a, b, &result) ? kMostBytes : result;
}
constexpr uint64_t round_up_or_most(uint64_t value, uint64_t multiple) {
    return value > kMostBytes - multiple ? kMostBytes : round_up(value, multiple);
}

}  // namespace ttmem::allocator
