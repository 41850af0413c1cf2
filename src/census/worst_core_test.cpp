// SPDX-License-Identifier: Apache-2.0
#include "census/worst_core.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace ttmem::census {
namespace {

constexpr Bank kL1Bank{1000, 500, 4};

TEST(WorstCore, WithNothingInL1HasAllTheHeadroom) {
    EXPECT_EQ(worst_core({}, kL1Bank, 0), (WorstCore{std::nullopt, std::nullopt, std::nullopt, 500, 0, 500}));
}

TEST(WorstCore, IsTheOneWithTheHighestCircularBuffer) {
    L1Reach reach;
    reach.add_circular_buffer(1100, Core{1, 2});
    reach.add_circular_buffer(1300, Core{15, 15});
    // Another program at the same addresses does not add to the sum.
    reach.add_circular_buffer(1200, Core{15, 15});
    reach.add_buffer(1450);
    reach.add_buffer(1400);
    const WorstCore worst = worst_core(reach, kL1Bank, 400);
    EXPECT_EQ(worst.core, (Core{15, 15}));
    EXPECT_EQ(worst.cb_top, 1300u);
    EXPECT_EQ(worst.lowest_buffer, 1400u);
    EXPECT_EQ(worst.headroom, 100);
    EXPECT_EQ(worst.used, 300u + 100u);
    EXPECT_EQ(worst.capacity, 500u);
}

TEST(WorstCore, WithBuffersAloneLeavesTheRestAsHeadroom) {
    L1Reach reach;
    reach.add_buffer(1400);
    EXPECT_EQ(worst_core(reach, kL1Bank, 400).core, std::nullopt);
    EXPECT_EQ(worst_core(reach, kL1Bank, 400).headroom, 400);
}

TEST(WorstCore, IsNamelessWhereTheCoresAreNotKnown) {
    L1Reach reach;
    reach.add_circular_buffer(1100, Core{0, 0});
    reach.add_circular_buffer(1200, std::nullopt);
    EXPECT_EQ(worst_core(reach, kL1Bank, 0).core, std::nullopt);
    EXPECT_EQ(worst_core(reach, kL1Bank, 0).headroom, 300);
}

TEST(WorstCore, OfAClashHasAHeadroomBelowZero) {
    L1Reach reach;
    reach.add_circular_buffer(1450, Core{0, 0});
    reach.add_buffer(1400);
    EXPECT_EQ(worst_core(reach, kL1Bank, 0).headroom, -50);
}

TEST(WorstCore, OfUnknownGeometryHasOnlyValuesFromAddresses) {
    L1Reach reach;
    EXPECT_EQ(worst_core(reach, {}, 7), WorstCore{});
    reach.add_buffer(1400);
    EXPECT_EQ(worst_core(reach, {}, 7).headroom, std::nullopt);
    reach.add_circular_buffer(1300, Core{0, 0});
    EXPECT_EQ(worst_core(reach, {}, 7).headroom, 100);
    EXPECT_EQ(worst_core(reach, {}, 7).used, std::nullopt);
}

TEST(WorstCore, DoesNotWrapOnHostileAddresses) {
    constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();
    L1Reach reach;
    reach.add_circular_buffer(kMost, Core{0, 0});
    reach.add_buffer(0);
    const WorstCore worst = worst_core(reach, {0, kMost, 1}, kMost);
    EXPECT_EQ(worst.headroom, -std::numeric_limits<int64_t>::max());
    EXPECT_EQ(worst.used, kMost);
}

TEST(WorstCore, TheFirstCoreOfAMaskIsTheLowest) {
    segment::CoreMask mask{};
    EXPECT_EQ(first_core(mask), std::nullopt);
    mask[3] = 0b1100;
    mask[5] = 1;
    EXPECT_EQ(first_core(mask), (Core{2, 3}));
}

}  // namespace
}  // namespace ttmem::census
