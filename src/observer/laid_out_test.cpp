// SPDX-License-Identifier: Apache-2.0
#include "observer/laid_out.hpp"

#include <gtest/gtest.h>

namespace ttmem::observer {
namespace {

CoreRectangle cores(size_t x0, size_t y0, size_t x1, size_t y1) { return {{x0, y0}, {x1, y1}}; }

TEST(BuffersOfMarks, AreOneForTheSameAddressOnRangesThatDoNotOverlap) {
    const auto buffers = buffers_of({{cores(0, 0, 1, 0), 1024, 64}, {cores(0, 1, 0, 1), 1024, 64}});
    ASSERT_EQ(buffers.size(), 1u);
    EXPECT_EQ(buffers[0].address, 1024u);
    EXPECT_EQ(buffers[0].size, 64u);
    EXPECT_EQ(buffers[0].cores.row[0], 3u);
    EXPECT_EQ(buffers[0].cores.row[1], 1u);
    EXPECT_TRUE(buffers[0].has_known_cores);
}

TEST(BuffersOfMarks, HaveUnknownCoresWhereTheRangesOverlap) {
    const auto buffers = buffers_of({{cores(0, 0, 3, 0), 1024, 64}, {cores(0, 0, 0, 0), 1024, 64}});
    ASSERT_EQ(buffers.size(), 1u);
    EXPECT_FALSE(buffers[0].has_known_cores);
}

TEST(BuffersOfMarks, AreSeveralForSeveralAddresses) {
    const auto buffers = buffers_of({{cores(0, 0, 0, 0), 1024, 64}, {cores(0, 0, 0, 0), 1088, 32}});
    ASSERT_EQ(buffers.size(), 2u);
    EXPECT_EQ(buffers[1].address, 1088u);
    EXPECT_TRUE(buffers[1].has_known_cores);
}

TEST(BuffersOfMarks, AreNoneWithoutMarks) { EXPECT_TRUE(buffers_of({}).empty()); }

}  // namespace
}  // namespace ttmem::observer
