// SPDX-License-Identifier: Apache-2.0
#include "sources/classic_wire/page_array.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace ttmem::sources::classic_wire {
namespace {

TEST(PageArray, KeepsItsValuesWhenItGrowsAndNewOnesAreZero) {
    PageArray<uint32_t> array;
    EXPECT_EQ(array.size(), 0u);
    EXPECT_EQ(array.bytes(), 0u);
    size_t count = 0;
    for (const size_t more : {1u, 1000u, 23u, 1u, 100'000u}) {
        ASSERT_TRUE(array.grow(count + more));
        EXPECT_TRUE(
            std::all_of(array.begin() + count, array.end(), [](uint32_t value) { return value == 0; }));
        for (count = 0; count < array.size(); ++count) {
            array[count] = static_cast<uint32_t>(count + 1);
        }
    }
    for (size_t i = 0; i < array.size(); ++i) {
        ASSERT_EQ(array[i], i + 1);
    }
}

TEST(PageArray, TakesWholePages) {
    PageArray<uint64_t> array;
    ASSERT_TRUE(array.grow(1));
    EXPECT_EQ(array.bytes(), segment::kPage);
    ASSERT_TRUE(array.grow(512));
    EXPECT_EQ(array.bytes(), segment::kPage);
    ASSERT_TRUE(array.grow(513));
    EXPECT_EQ(array.bytes(), 2 * segment::kPage);
}

TEST(PageArray, AShortageLeavesItAsItWas) {
    PageArray<uint64_t> array;
    ASSERT_TRUE(array.grow(2));
    array[1] = 7;
    EXPECT_FALSE(array.grow(size_t{1} << 56));  // more than the address space
    EXPECT_EQ(array.size(), 2u);
    EXPECT_EQ(array[1], 7u);
}

}  // namespace
}  // namespace ttmem::sources::classic_wire
