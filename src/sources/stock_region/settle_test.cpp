// SPDX-License-Identifier: Apache-2.0
#include "sources/stock_region/settle.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sources/stock_region/region.hpp"
#include "sources/stock_region/region_writer_test_support.hpp"

namespace ttmem::sources::stock_region {
namespace {

using base::Error;
using testing::ElementsAre;

// A region whose writer changes it between any two reads.
class BusyRegion {
public:
    using Step = std::function<void(layout::RegionLayout&, size_t reads)>;

    explicit BusyRegion(Step step) : step_(std::move(step)) {
        writer.add(11, 5, {1, 2, 3, 4, 5});
        writer.add(12, 6, {10, 20, 30, 40, 50});
    }

    base::Expected<Copy> copy() {
        return copy_settled([this](std::span<unsigned char> into, size_t offset) {
            const auto bytes = writer.bytes();
            EXPECT_LE(offset + into.size(), bytes.size());
            std::memcpy(into.data(), bytes.data() + offset, into.size());
            step_(writer.raw, ++reads);
            return true;
        });
    }

    StockRegion region() {
        const auto bytes = copy();
        const auto result = bytes ? parse(*bytes) : tl::unexpected(bytes.error());
        EXPECT_TRUE(result) << result.error().text;
        return result.value_or(StockRegion{});
    }

    RegionWriter writer{1};
    size_t reads = 0;

private:
    Step step_;
};

TEST(Settle, AQuietRegionIsReadTwice) {
    BusyRegion busy([](layout::RegionLayout&, size_t) {});
    const auto copy = busy.copy();
    ASSERT_TRUE(copy);
    EXPECT_EQ(busy.reads, 2u);
    EXPECT_EQ(std::vector(copy->begin(), copy->end()), busy.writer.bytes());
}

TEST(Settle, ASlotThatChangedIsReadAgainUntilItStands) {
    BusyRegion busy([](layout::RegionLayout& raw, size_t reads) {
        if (reads <= 4) {
            raw.slots[1].figures.l1 += 1000;
        }
    });
    const StockRegion region = busy.region();
    EXPECT_EQ(busy.reads, 6u);
    EXPECT_THAT(region.slots[0].requested, ElementsAre(1, 2, 3, 4));
    EXPECT_THAT(region.slots[1].requested, ElementsAre(10, 4020, 30, 40));
    EXPECT_EQ(region.implausible, 0u);
}

TEST(Settle, AFigureThatNeverStandsIsAbsentAndTheOthersAreNot) {
    BusyRegion busy([](layout::RegionLayout& raw, size_t) { ++raw.slots[1].figures.dram; });
    const StockRegion region = busy.region();
    EXPECT_EQ(busy.reads, kMostReadsOfSlot);
    EXPECT_THAT(region.slots[1].requested, ElementsAre(std::nullopt, 20, 30, 40));
    EXPECT_EQ(region.implausible, 1u);
}

TEST(Settle, ASlotThatKeepsChangingItsProcessIsIgnored) {
    BusyRegion busy([](layout::RegionLayout& raw, size_t) { ++raw.slots[0].pid; });
    const StockRegion region = busy.region();
    ASSERT_EQ(region.slots.size(), 1u);
    EXPECT_EQ(region.slots[0].pid, 12u);
}

TEST(Settle, ASlotThatChangesHandsOnceIsTheNewOnes) {
    BusyRegion busy([](layout::RegionLayout& raw, size_t reads) {
        if (reads == 1) {
            raw.slots[0] = {77, 0, {7, 7, 7, 7, 7}, 9, "new"};
        }
    });
    const StockRegion region = busy.region();
    EXPECT_EQ(region.slots[0], (RegionSlot{77, {7, 7, 7, 7}, 9, "new"}));
}

TEST(Settle, FieldsThatAreNotFiguresMayChange) {
    BusyRegion busy([](layout::RegionLayout& raw, size_t) {
        ++raw.slots[0].last_update_ns;
        ++raw.slots[0].figures.cb;
        ++raw.totals.dram;
    });
    EXPECT_EQ(busy.region().slots.size(), 2u);
    EXPECT_EQ(busy.reads, 2u);
}

TEST(Settle, ARegionThatIsSetUpMeanwhileIsNotThereYet) {
    const BusyRegion::Step steps[] = {
        [](layout::RegionLayout& raw, size_t) { raw.version = 4; },
        [](layout::RegionLayout& raw, size_t) { raw.asic_id = 4; },
        [](layout::RegionLayout& raw, size_t) { raw.init_state = layout::kReady; },
    };
    for (const auto& step : steps) {
        const auto copy = BusyRegion(step).copy();
        ASSERT_FALSE(copy);
        EXPECT_EQ(copy.error().code, Error::Code::unfinished);
    }
}

TEST(Settle, AFileThatIsCutOffMeanwhileIsAnError) {
    for (size_t good_reads = 0; good_reads < 5; ++good_reads) {
        RegionWriter writer(1);
        writer.add(11, 5);
        size_t reads = 0;
        const auto copy = copy_settled([&](std::span<unsigned char> into, size_t offset) {
            ++writer.raw.slots[0].figures.dram;
            const auto bytes = writer.bytes();
            std::memcpy(into.data(), bytes.data() + offset, into.size());
            return ++reads <= good_reads;
        });
        ASSERT_FALSE(copy);
        EXPECT_EQ(copy.error().text, "became shorter while it was read");
    }
}

}  // namespace
}  // namespace ttmem::sources::stock_region
