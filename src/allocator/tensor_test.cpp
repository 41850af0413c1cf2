// SPDX-License-Identifier: Apache-2.0
#include "allocator/tensor.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "allocator/chips_test_support.hpp"

namespace ttmem::allocator {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Tensor, AShapeIsOneToEightNumbers) {
    EXPECT_THAT(*parse_shape("1,32,4096,4096"), ElementsAre(1, 32, 4096, 4096));
    EXPECT_THAT(*parse_shape("7"), ElementsAre(7));
    for (const char* wrong : {"", "0", "1,", ",1", "1,,2", "1,0", "-1", "x", "1x32", "1, 2",
                              "1,2,3,4,5,6,7,8,9", "99999999999999999999"}) {
        const auto shape = parse_shape(wrong);
        ASSERT_FALSE(shape) << wrong;
        EXPECT_THAT(shape.error().text, HasSubstr("must be one to eight numbers"));
    }
}

TEST(Tensor, TilesPadTheLastTwoDimensions) {
    EXPECT_EQ(*pages_of_tensor({1, 32, 4096, 4096}, DataType::bfloat16, TensorLayout::tile),
              (TensorPages{32 * 128, 128, 2048}));
    EXPECT_EQ(*pages_of_tensor({2, 3, 33, 1}, DataType::float32, TensorLayout::tile),
              (TensorPages{2 * 3 * 2, 1, 4096}));
    EXPECT_EQ(*pages_of_tensor({100}, DataType::uint8, TensorLayout::tile), (TensorPages{1, 4, 1024}));
    EXPECT_EQ(pages_of_tensor({32, 32}, DataType::bfloat8_b, TensorLayout::tile)->page_size, 1088u);
    EXPECT_EQ(pages_of_tensor({32, 32}, DataType::bfloat4_b, TensorLayout::tile)->page_size, 576u);
}

TEST(Tensor, ARowIsAPageInRowMajorLayout) {
    EXPECT_EQ(*pages_of_tensor({2, 3, 33, 100}, DataType::bfloat16, TensorLayout::row_major),
              (TensorPages{2 * 3 * 33, 1, 200}));
    EXPECT_EQ(*pages_of_tensor({100}, DataType::int32, TensorLayout::row_major), (TensorPages{1, 1, 400}));
    EXPECT_THAT(pages_of_tensor({100}, DataType::bfloat8_b, TensorLayout::row_major).error().text,
                HasSubstr("must be tile"));
}

TEST(Tensor, BytesArePagesRoundedUp) {
    EXPECT_EQ(pages_of_bytes(2049, 2048), (TensorPages{2, 1, 2048}));
    EXPECT_EQ(pages_of_bytes(2048, 2048).bytes(), 2048u);
}

TEST(Tensor, ShardsGetWholeRows) {
    const TensorPages tensor{.rows = 10, .pages_per_row = 4, .page_size = 2048};
    const BufferRequest interleaved = request_of(tensor, PoolKind::l1, 0, {});
    EXPECT_EQ(interleaved.pages, 40u);
    const BufferRequest sharded = request_of(tensor, PoolKind::l1, 4, {});
    EXPECT_EQ(sharded.pages, 48u) << "3 rows of 4 pages on each of 4 cores";
    EXPECT_EQ(footprint(cut_regions(kN150, {})[PoolKind::l1], sharded).reserved_per_bank, 12u * 2048);
}

TEST(Tensor, HugeShapesSaturateAndFitNowhere) {
    const uint64_t most = UINT64_MAX;
    const auto pages = pages_of_tensor({most, most, most}, DataType::float32, TensorLayout::tile);
    const PoolGeometry dram = cut_regions(kN150, {})[PoolKind::dram];
    for (const uint32_t cores : {0u, 12u}) {
        EXPECT_GT(footprint(dram, request_of(*pages, PoolKind::dram, cores, {})).reserved_per_bank,
                  dram.size);
    }
    EXPECT_GT(
        footprint(dram, request_of(pages_of_bytes(most, most), PoolKind::dram, 0, {})).reserved_per_bank,
        dram.size);
}

}  // namespace
}  // namespace ttmem::allocator
