// SPDX-License-Identifier: Apache-2.0
#include "allocator/geometry.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace ttmem::allocator {
namespace {

struct PoolWords {
    std::string_view name;
    std::string_view title;
};
constexpr PoolWords kPoolWords[kPoolCount] = {
    {"dram", "DRAM"}, {"l1", "L1"}, {"l1_small", "L1_SMALL"}, {"trace", "TRACE"}};

}  // namespace

std::string_view pool_name(PoolKind pool) { return kPoolWords[static_cast<size_t>(pool)].name; }

std::string_view pool_title(PoolKind pool) { return kPoolWords[static_cast<size_t>(pool)].title; }

std::optional<PoolKind> pool_from_name(std::string_view name) {
    for (const PoolKind pool : kPools) {
        if (pool_name(pool) == name) {
            return pool;
        }
    }
    return std::nullopt;
}

MemoryGeometry cut_regions(const ChipMemory& chip, const RegionSizes& regions) {
    const uint64_t dram_room = chip.dram_bank_size - chip.dram_base;
    const uint64_t l1_room = chip.l1_size - chip.l1_base;
    // Check the sizes before rounding: a size near 2^64 would wrap around to a small one.
    const uint64_t trace_share = divide_up(regions.trace, chip.dram_banks);
    if (trace_share >= dram_room || round_up(trace_share, kTraceAlignment) >= dram_room) {
        throw std::invalid_argument(
            fmt::format("a trace region of {} B leaves nothing of the {} DRAM banks with {} B each",
                        regions.trace, chip.dram_banks, dram_room));
    }
    if (regions.l1_small >= l1_room || round_up(regions.l1_small, chip.dram_alignment) >= l1_room) {
        throw std::invalid_argument(
            fmt::format("an L1_SMALL region of {} B leaves nothing of the {} B in each L1 bank",
                        regions.l1_small, l1_room));
    }
    const uint64_t trace = round_up(trace_share, kTraceAlignment);
    const uint64_t l1_small = round_up(regions.l1_small, chip.dram_alignment);

    MemoryGeometry memory;
    const auto set = [&](PoolKind pool, uint64_t base, uint64_t size, uint32_t banks) {
        memory[pool] = {base,
                        size,
                        banks,
                        is_in_l1(pool) ? chip.l1_alignment : chip.dram_alignment,
                        chip.dram_alignment,
                        grows_bottom_up(pool)};
    };
    set(PoolKind::dram, chip.dram_base, dram_room - trace, chip.dram_banks);
    set(PoolKind::trace, chip.dram_bank_size - trace, trace, chip.dram_banks);
    set(PoolKind::l1, chip.l1_base, l1_room - l1_small, chip.cores);
    // With a region size of 0 the runtime makes no L1_SMALL banks, but it keeps the banks of an empty trace region.
    set(PoolKind::l1_small, chip.l1_size - l1_small, l1_small, l1_small == 0 ? 0 : chip.cores);
    return memory;
}

}  // namespace ttmem::allocator
