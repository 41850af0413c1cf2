// SPDX-License-Identifier: Apache-2.0
#include "census/free_space.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace ttmem::census {
namespace {

constexpr Bank kBank{1000, 100, 4};

TEST(FreeSpace, OfAnEmptyBankIsTheWholeBank) { EXPECT_EQ(largest_free_block({}, kBank), 100u); }

TEST(FreeSpace, IsTheLargestGapBeforeBetweenOrBehindTheBlocks) {
    EXPECT_EQ(largest_free_block({{1060, 40}, {1080, 80}}, kBank), 60u);
    EXPECT_EQ(largest_free_block({{1000, 40}, {1070, 120}}, kBank), 60u);
    EXPECT_EQ(largest_free_block({{1000, 40}, {1010, 40}}, kBank), 80u);
}

TEST(FreeSpace, OfAFullBankIsZeroAndKnown) { EXPECT_EQ(largest_free_block({{1000, 400}}, kBank), 0u); }

TEST(FreeSpace, ReservedBytesThatDoNotDivideEvenlyTakeAWholeByteMore) {
    EXPECT_EQ(largest_free_block({{1000, 41}}, kBank), 89u);
}

TEST(FreeSpace, BlocksOnTopOfEachOtherCountOnce) {
    EXPECT_EQ(largest_free_block({{1000, 200}, {1010, 40}}, kBank), 50u);
}

TEST(FreeSpace, OfAnUnknownBankIsUnknown) { EXPECT_EQ(largest_free_block({}, {1000, 100, 0}), std::nullopt); }

TEST(FreeSpace, BlocksOutsideTheBankMakeItUnknown) {
    EXPECT_EQ(largest_free_block({{999, 4}}, kBank), std::nullopt);
    EXPECT_EQ(largest_free_block({{1090, 44}}, kBank), std::nullopt);
    EXPECT_EQ(largest_free_block({{2000, 4}}, kBank), std::nullopt);
    EXPECT_EQ(largest_free_block({{1000, UINT64_MAX}}, kBank), std::nullopt);
    EXPECT_EQ(largest_free_block({{UINT64_MAX, UINT64_MAX}}, kBank), std::nullopt);
}

TEST(FreeSpace, ABankThatEndsBeyondTheLastAddressIsCutThere) {
    EXPECT_EQ(largest_free_block({}, {UINT64_MAX - 10, 100, 1}), 10u);
}

}  // namespace
}  // namespace ttmem::census
