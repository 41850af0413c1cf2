// SPDX-License-Identifier: Apache-2.0
#include "census/peak.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace ttmem::census {
namespace {

TEST(Peak, OfNothingIsZeroExactly) {
    const Peak peak = combine({});
    EXPECT_EQ(peak.bytes, 0u);
    EXPECT_TRUE(peak.exact);
}

TEST(Peak, OfOnePoolIsItsOwn) {
    const Peak peak = combine({{0, 10, 0, 5, 9}});
    EXPECT_EQ(peak.bytes, 9u);
    EXPECT_TRUE(peak.exact);
}

TEST(Peak, OfPoolsOpenAtTheSameTimeIsALowerBound) {
    const Peak peak = combine({{0, 10, 0, 5, 9}, {0, 20, 0, 7, 8}});
    EXPECT_EQ(peak.bytes, 12u);  // the current sum
    EXPECT_FALSE(peak.exact);
}

TEST(Peak, OfPoolsOneAfterTheOtherIsTheHigherExactly) {
    const Peak peak = combine({{0, 10, 20, 0, 9}, {0, 20, 0, 7, 8}});
    EXPECT_EQ(peak.bytes, 9u);
    EXPECT_TRUE(peak.exact);
}

TEST(Peak, OfTwoProcessesIsALowerBoundWhateverTheirTicksSay) {
    const Peak peak = combine({{0, 10, 20, 0, 9}, {1, 20, 0, 7, 8}});
    EXPECT_EQ(peak.bytes, 9u);
    EXPECT_FALSE(peak.exact);
    EXPECT_EQ(peak.at_most, 17u);
}

TEST(Peak, OfProcessesOneAfterTheOtherIsTheHighestExactlyWhateverTheyLeft) {
    const Peak peak = combine({{0, 10, 0, 9, 9, {1, 2}}, {1, 10, 0, 8, 8, {3, 4}}, {2, 10, 0, 9, 9, {5, 6}}});
    EXPECT_EQ(peak.bytes, 9u);
    EXPECT_TRUE(peak.exact);
    EXPECT_EQ(peak.at_most, 9u);
}

TEST(Peak, IsAtMostTheSumOfTheProcessesThatWereThereTogether) {
    // The first was there all the time; the others came one after the other.
    const Peak peak = combine({{0, 10, 0, 1, 1, {1, 6}}, {1, 10, 0, 8, 8, {2, 3}}, {2, 10, 0, 9, 9, {4, 5}}});
    EXPECT_EQ(peak.bytes, 9u);
    EXPECT_FALSE(peak.exact);
    EXPECT_EQ(peak.at_most, 10u);
}

TEST(Peak, IsAtMostTheSumOfTheSetsThatWereOpenTogether) {
    const Peak peak = combine({{0, 10, 0, 0, 1}, {0, 20, 30, 0, 8}, {0, 30, 40, 0, 9}});
    EXPECT_EQ(peak.bytes, 9u);
    EXPECT_EQ(peak.at_most, 10u);
}

TEST(Peak, OfASetThatClosedInTheTickOfItsOpeningCounts) {
    const Peak peak = combine({{0, 10, 10, 0, 5}, {0, 10, 0, 0, 6}});
    EXPECT_EQ(peak.at_most, 11u);
}

TEST(Peak, DoesNotWrap) {
    const Peak peak = combine({{0, 1, 0, UINT64_MAX, UINT64_MAX}, {0, 1, 0, UINT64_MAX, 1}});
    EXPECT_EQ(peak.bytes, UINT64_MAX);
    EXPECT_EQ(peak.at_most, UINT64_MAX);
}

}  // namespace
}  // namespace ttmem::census
