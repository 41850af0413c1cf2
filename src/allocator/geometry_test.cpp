// SPDX-License-Identifier: Apache-2.0
#include "allocator/geometry.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>

#include "allocator/chips_test_support.hpp"

namespace ttmem::allocator {
namespace {

TEST(Geometry, PagesOfL1HaveTheirOwnAlignmentAndReservationsThatOfDram) {
    const MemoryGeometry p100 = cut_regions(kP100, {.l1_small = 100});
    EXPECT_EQ(p100[PoolKind::l1].page_alignment, 16u);
    EXPECT_EQ(p100[PoolKind::l1_small].page_alignment, 16u);
    EXPECT_EQ(p100[PoolKind::dram].page_alignment, 64u);
    EXPECT_EQ(p100[PoolKind::l1_small].size, 128u) << "the region is rounded up as well";
    for (const PoolKind pool : kPools) {
        EXPECT_EQ(p100[pool].bank_alignment, 64u);
        EXPECT_EQ(p100[pool].bottom_up, pool == PoolKind::dram || pool == PoolKind::trace);
    }
}

TEST(Geometry, RegionsAreCutFromTheTopOfTheirBanks) {
    const MemoryGeometry t3000 = cut_regions(kT3000, {.l1_small = 32'768, .trace = 1'048'576});
    EXPECT_EQ(t3000[PoolKind::trace].base, 1'073'651'712u);
    EXPECT_EQ(t3000[PoolKind::trace].size, 90'112u);
    EXPECT_EQ(t3000[PoolKind::dram].end(), t3000[PoolKind::trace].base);
    EXPECT_EQ(t3000[PoolKind::l1_small].end(), 1'499'136u);
    EXPECT_EQ(t3000[PoolKind::l1_small].size, 32'768u);
    EXPECT_EQ(t3000[PoolKind::l1].end(), t3000[PoolKind::l1_small].base);
    EXPECT_EQ(t3000[PoolKind::l1_small].banks, 56u);
    EXPECT_EQ(cut_regions(kT3000, {})[PoolKind::l1_small].banks, 0u);
}

TEST(Geometry, RegionsThatLeaveNoRoomAreRefused) {
    constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();
    for (const uint64_t size : {uint64_t{1'393'472}, uint64_t{1'393'450}, kMost, kMost - 5}) {
        EXPECT_THROW((void)cut_regions(kN150, {.l1_small = size}), std::invalid_argument) << size;
    }
    for (const uint64_t size : {uint64_t{12} * 1'072'693'184, kMost}) {
        EXPECT_THROW((void)cut_regions(kN150, {.trace = size}), std::invalid_argument) << size;
    }
    EXPECT_NO_THROW((void)cut_regions(kN150, {.l1_small = 1'393'440}));
}

}  // namespace
}  // namespace ttmem::allocator
