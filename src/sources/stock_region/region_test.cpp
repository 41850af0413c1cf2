// SPDX-License-Identifier: Apache-2.0
#include "sources/stock_region/region.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sources/stock_region/region_writer_test_support.hpp"

namespace ttmem::sources::stock_region {
namespace {

using base::Error;
using testing::ElementsAre;

constexpr uint64_t kAsicId = 14521741355;

Error error_of(const std::vector<unsigned char>& bytes) {
    const auto region = parse(bytes);
    return region ? Error{Error::Code::failed, "was taken"} : region.error();
}

TEST(StockRegion, ReturnsTheValuesOfASlot) {
    RegionWriter writer(kAsicId);
    writer.raw.logical_id = 5;
    writer.add(4711, 123456789, {100, 200, 300, 400, 500}, "probe");
    const auto region = parse(writer.bytes());
    ASSERT_TRUE(region) << region.error().text;
    EXPECT_EQ(region->version, 3u);
    EXPECT_EQ(region->asic_id, kAsicId);
    EXPECT_EQ(region->logical_id, 5u);
    EXPECT_EQ(region->implausible, 0u);
    EXPECT_THAT(region->slots, ElementsAre(RegionSlot{4711, {100, 200, 300, 400}, 123456789, "probe"}));
}

TEST(StockRegion, AVersionThatIsNotKnownIsNamed) {
    EXPECT_EQ(error_of(RegionWriter(1, 2).bytes()).text, "has version 2, and only 3 and 4 are known");
    EXPECT_EQ(error_of(RegionWriter(1, 99).bytes()).text, "has version 99, and only 3 and 4 are known");
    EXPECT_EQ(error_of(RegionWriter(1, 99).bytes()).code, Error::Code::refused);
}

TEST(StockRegion, AnotherSizeIsNamed) {
    auto bytes = RegionWriter(1).bytes();
    bytes.pop_back();
    EXPECT_EQ(error_of(bytes).text, "has 8575 bytes, and a region has 8576");
    bytes.resize(8577);
    EXPECT_EQ(error_of(bytes).text, "has 8577 bytes, and a region has 8576");
    bytes.resize(4);
    EXPECT_EQ(error_of(bytes).code, Error::Code::refused);
}

TEST(StockRegion, IsNotThereYetWhileItIsEmptyOrHasNoVersion) {
    EXPECT_EQ(error_of({}).code, Error::Code::unfinished);
    RegionWriter writer(1, 0);
    writer.add(4711, 0);
    EXPECT_EQ(error_of(writer.bytes()).code, Error::Code::unfinished);
}

TEST(StockRegion, OfVersion4IsNotThereYetUntilItIsReady) {
    RegionWriter writer(1, layout::kVersion4);
    EXPECT_TRUE(parse(writer.bytes()));
    for (const uint32_t state : {0u, 1u, layout::kReady + 1}) {
        writer.raw.init_state = state;
        EXPECT_EQ(error_of(writer.bytes()).code, Error::Code::unfinished);
        EXPECT_EQ(error_of(writer.bytes()).text, "is being set up");
    }
}

TEST(StockRegion, OfVersion3HasNoState) {
    RegionWriter writer(1);
    writer.raw.init_state = 7;
    EXPECT_TRUE(parse(writer.bytes()));
}

TEST(StockRegion, SlotsThatAreFreeOrBeingReleasedAreNone) {
    for (const uint32_t version : {layout::kVersion3, layout::kVersion4}) {
        RegionWriter writer(1, version);
        writer.add(0, 9, {1, 1, 1, 1, 1});
        writer.add(layout::kBeingReleased, 9, {1, 1, 1, 1, 1});
        writer.add(-4711, 9, {~0ull, 1, 1, 1, 1});
        writer.add(12, 9);
        const auto region = parse(writer.bytes());
        ASSERT_TRUE(region);
        ASSERT_EQ(region->slots.size(), 1u);
        EXPECT_EQ(region->slots[0].pid, 12u);
        EXPECT_EQ(region->implausible, 0u);
    }
}

TEST(StockRegion, AFigureThatWrappedIsAbsentAndCounted) {
    RegionWriter writer(1);
    writer.add(12, 9, {static_cast<uint64_t>(-4096), kMostPlausibleBytes, kMostPlausibleBytes + 1, 0, 0});
    const auto region = parse(writer.bytes());
    ASSERT_TRUE(region);
    EXPECT_THAT(region->slots[0].requested, ElementsAre(std::nullopt, kMostPlausibleBytes, std::nullopt, 0u));
    EXPECT_EQ(region->implausible, 2u);
}

TEST(StockRegion, HasSixtyFourSlots) {
    RegionWriter writer(1);
    for (int32_t i = 0; i < 64; ++i) {
        writer.add(100 + i, 9, {static_cast<uint64_t>(i), 0, 0, 0, 0});
    }
    const auto region = parse(writer.bytes());
    ASSERT_TRUE(region);
    ASSERT_EQ(region->slots.size(), 64u);
    EXPECT_EQ(region->slots[63].pid, 163u);
    EXPECT_EQ(region->slots[63].requested[0], 63u);
}

TEST(StockRegion, ItsOwnTotalsAndCountsAreIgnored) {
    RegionWriter writer(1);
    writer.add(12, 9, {1, 2, 3, 4, 5});
    const auto before = parse(writer.bytes());
    writer.raw.totals = {~0ull, ~0ull, 77, 77, 77};
    writer.raw.active_processes = 0xffffffff;
    writer.raw.references = 0xffffffff;
    writer.raw.chips[3] = {3, 1, {9, 9, 9, 9, 9}};
    const auto after = parse(writer.bytes());
    ASSERT_TRUE(before && after);
    EXPECT_EQ(before->slots, after->slots);
}

TEST(StockRegion, ANameWithoutAnEndOrWithControlsIsHarmless) {
    RegionWriter writer(1);
    writer.add(12, 9, {}, std::string(64, 'x'));
    writer.add(13, 9, {}, "\x1b[2J\n");
    const auto region = parse(writer.bytes());
    ASSERT_TRUE(region);
    EXPECT_EQ(region->slots[0].name, std::string(64, 'x'));
    EXPECT_EQ(region->slots[1].name, "?[2J?");
}

TEST(StockRegion, OfZerosOrOnesAloneIsNone) {
    EXPECT_FALSE(parse(std::vector<unsigned char>(layout::kRegionBytes, 0)));
    EXPECT_FALSE(parse(std::vector<unsigned char>(layout::kRegionBytes, 0xff)));
}

}  // namespace
}  // namespace ttmem::sources::stock_region
