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
}

TEST(Peak, DoesNotWrap) {
    EXPECT_EQ(combine({{0, 1, 0, UINT64_MAX, UINT64_MAX}, {0, 1, 0, UINT64_MAX, 1}}).bytes, UINT64_MAX);
}

}  // namespace
}  // namespace ttmem::census
