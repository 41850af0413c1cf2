// SPDX-License-Identifier: Apache-2.0
#include "allocator/allocator.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <limits>
#include <utility>
#include <vector>

#include "allocator/chips_test_support.hpp"

namespace ttmem::allocator {
namespace {

MemoryGeometry t3000() { return cut_regions(kT3000, {.l1_small = 32'768, .trace = 1'048'576}); }

TEST(Allocator, InterleavedPagesAreDealtOutOverTheBanks) {
    const BufferFootprint taken =
        footprint(t3000()[PoolKind::dram], {.pool = PoolKind::dram, .pages = 512, .page_size = 2048});
    EXPECT_EQ(taken.aligned_size, 1'048'576u);
    EXPECT_EQ(taken.aligned_size_per_bank, 88'064u) << "43 pages in the fullest bank";
    EXPECT_EQ(taken.reserved_per_bank, 88'064u);
    EXPECT_EQ(taken.spread, 12u);
}

TEST(Allocator, PagesAreAlignedInTheirPoolAndBanksToTheAlignmentOfDram) {
    const BufferFootprint semaphore = footprint(
        t3000()[PoolKind::l1], {.pool = PoolKind::l1, .pages = 16, .page_size = 4, .shard_cores = 16});
    EXPECT_EQ(semaphore.aligned_size, 256u);
    EXPECT_EQ(semaphore.aligned_size_per_bank, 16u);
    EXPECT_EQ(semaphore.reserved_per_bank, 32u);
}

TEST(Allocator, EachPoolGrowsInItsOwnDirection) {
    Allocator allocator(t3000());
    EXPECT_EQ(allocator.allocate({.pool = PoolKind::dram, .pages = 1, .page_size = 2048}), 1'048'640u);
    EXPECT_EQ(allocator.allocate({.pool = PoolKind::trace, .pages = 1, .page_size = 1024}), 1'073'651'712u);
    EXPECT_EQ(allocator.allocate({.pool = PoolKind::l1, .pages = 32, .page_size = 2048}), 1'464'320u);
    EXPECT_EQ(
        allocator.allocate({.pool = PoolKind::l1_small, .pages = 4, .page_size = 1024, .shard_cores = 4}),
        1'498'112u);
    EXPECT_EQ(allocator.lowest_occupied_l1(), 1'464'320u);
    EXPECT_EQ(allocator.allocate({.pool = PoolKind::dram, .pages = 1, .page_size = 2048, .bottom_up = false}),
              1'073'651'712u - 2048);
}

TEST(Allocator, OutOfMemoryNamesRequestNeedFreeAndLargestBlock) {
    Allocator allocator(cut_regions(kT3000, {}));
    const auto refused =
        allocator.allocate({.pool = PoolKind::dram, .pages = 536'870'912, .page_size = 2048});
    ASSERT_FALSE(refused);
    EXPECT_EQ(
        refused.error().message(),
        "Out of Memory: Not enough space to allocate 1099511627776 B DRAM buffer across 12 banks, where each "
        "bank needs to store 91625969664 B, but bank size is 1072693184 B (allocated: 0 B, free: 1072693184 "
        "B, "
        "largest free block: 1072693184 B)");
}

TEST(Allocator, SizesNearTheEndOfSixtyFourBitsAreRefusedAndDoNotWrap) {
    Allocator allocator(t3000());
    constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();
    EXPECT_FALSE(allocator.allocate({.pool = PoolKind::dram, .pages = kMost, .page_size = 1}));
    EXPECT_FALSE(allocator.allocate({.pool = PoolKind::dram, .pages = 1, .page_size = kMost}));
    EXPECT_FALSE(
        allocator.allocate({.pool = PoolKind::l1, .pages = kMost / 16, .page_size = 32, .shard_cores = 1}));
    for (const PoolKind pool : kPools) {
        EXPECT_EQ(allocator.statistics(pool).allocated, 0u);
    }
}

TEST(Allocator, APoolWithoutBanksRefusesEverything) {
    Allocator allocator(cut_regions(kN150, {}));
    EXPECT_FALSE(
        allocator.allocate({.pool = PoolKind::l1_small, .pages = 4, .page_size = 1024, .shard_cores = 4}));
    EXPECT_FALSE(allocator.allocate({.pool = PoolKind::trace, .pages = 1, .page_size = 1024}));
}

TEST(Allocator, AShardNeedsABankOfItsOwn) {
    const PoolGeometry l1 = t3000()[PoolKind::l1];
    EXPECT_TRUE(has_cores(l1, {.pool = PoolKind::l1, .pages = 56, .page_size = 32, .shard_cores = 56}));
    EXPECT_FALSE(has_cores(l1, {.pool = PoolKind::l1, .pages = 57, .page_size = 32, .shard_cores = 57}));
    EXPECT_TRUE(has_cores(l1, {.pool = PoolKind::l1, .pages = 999, .page_size = 32})) << "interleaved";
}

TEST(Allocator, WhatAPoolGaveAwayIsTheSumOfItsFootprints) {
    const bool held = rc::check([] {
        const ChipMemory chip = *rc::gen::element(kN150, kT3000, kP100);
        Allocator allocator(cut_regions(chip, {.l1_small = 65'536, .trace = 8'388'608}));
        struct Live {
            PoolKind pool;
            uint64_t address;
            uint64_t bytes;
        };
        std::vector<Live> live;
        uint64_t expected[kPoolCount] = {};
        const auto calls = *rc::gen::container<std::vector<uint64_t>>(
            200, rc::gen::resize(rc::kNominalSize, rc::gen::arbitrary<uint64_t>()));
        for (const uint64_t call : calls) {
            if (call % 5 < 2 && !live.empty()) {
                std::swap(live[(call / 5) % live.size()], live.back());
                RC_ASSERT(allocator.release(live.back().pool, live.back().address));
                expected[static_cast<size_t>(live.back().pool)] -= live.back().bytes;
                live.pop_back();
                continue;
            }
            const PoolKind pool = kPools[(call >> 8) % kPoolCount];
            const bool sharded =
                pool == PoolKind::l1_small || (pool == PoolKind::l1 && (call >> 10) % 2 == 0);
            BufferRequest request{
                .pool = pool, .pages = 1 + (call >> 11) % 3000, .page_size = 1 + (call >> 24) % 4096};
            if (sharded) {
                request.shard_cores = 1 + static_cast<uint32_t>((call >> 40) % 8);
                request.pages = request.shard_cores * (1 + (call >> 44) % 8);
            }
            const uint64_t bytes = footprint(allocator.memory()[pool], request).reserved_per_bank;
            RC_ASSERT(bytes % allocator.memory()[pool].bank_alignment == 0u);
            if (const auto address = allocator.allocate(request)) {
                RC_ASSERT(*address >= allocator.memory()[pool].base);
                RC_ASSERT(*address + bytes <= allocator.memory()[pool].end());
                live.push_back({pool, *address, bytes});
                expected[static_cast<size_t>(pool)] += bytes;
            } else {
                RC_ASSERT(bytes > allocator.statistics(pool).largest_free);
            }
            for (const PoolKind each : kPools) {
                RC_ASSERT(allocator.statistics(each).allocated == expected[static_cast<size_t>(each)]);
            }
        }
    });
    EXPECT_TRUE(held);
}

}  // namespace
}  // namespace ttmem::allocator
