// SPDX-License-Identifier: Apache-2.0
#include "allocator/circular_layout.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ttmem::allocator {
namespace {

using ::testing::ElementsAre;

constexpr CoreBits kLeft{0b01};
constexpr CoreBits kRight{0b10};
constexpr CoreBits kBoth{0b11};

TEST(CircularLayout, ABufferLiesAboveThoseThatShareACoreWithIt) {
    const std::vector<CircularBuffer> buffers{{100, kLeft}, {50, kRight}, {10, kBoth}, {10, kRight}};
    EXPECT_THAT(lay_out(buffers, 1024, 32), ElementsAre(1024, 1024, 1152, 1184));
    EXPECT_EQ(end_of_layout(buffers, 1024, 32), 1194u);
    EXPECT_EQ(end_of_layout({}, 1024, 32), 0u);
}

TEST(CircularLayout, SizesBeyondTheAddressSpaceSaturate) {
    const std::vector<CircularBuffer> buffers{{UINT64_MAX - 10, kLeft}, {100, kLeft}};
    EXPECT_EQ(end_of_layout(buffers, 1024, 32), UINT64_MAX);
}

}  // namespace
}  // namespace ttmem::allocator
