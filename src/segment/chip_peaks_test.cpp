// SPDX-License-Identifier: Apache-2.0
#include "segment/chip_peaks.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace ttmem::segment {
namespace {

// Two sets on one chip. An event has two halves, between which others may come and go: it adds, and then counts for the peaks.
class TwoSetsOnAChip : public testing::Test {
protected:
    static constexpr uint32_t kMesh = 0;
    static constexpr uint32_t kOwn = 1;

    TwoSetsOnAChip() {
        for (const uint32_t set : {kMesh, kOwn}) {
            members_[set] = 1;
            peaks_.open(set, 1);
        }
    }

    // Returns the level that it reached.
    uint64_t add(uint32_t set, int64_t bytes) {
        return pool(set).used.fetch_add(static_cast<uint64_t>(bytes)) + static_cast<uint64_t>(bytes);
    }
    void count(uint32_t set, uint64_t level) {
        if (pool(set).is_paused.load() != 0) {
            peaks_.resume(pool_index(set, AllocationKind::dram), level);
        } else {
            raise_to(pool(set).since, level);
        }
    }
    void event(uint32_t set, int64_t bytes) { count(set, add(set, bytes)); }
    uint64_t peak() const { return peaks_.peak(0, chip_kind(static_cast<uint32_t>(AllocationKind::dram))); }

private:
    Pool& pool(uint32_t set) { return pools_[pool_index(set, AllocationKind::dram)]; }

    std::unique_ptr<Pool[]> pools_ = std::make_unique<Pool[]>(size_t{2} * kKindsPerSet);
    ChipCounters chips_[1];
    uint64_t members_[2] = {};
    ChipPeaks peaks_{pools_.get(), chips_, members_, 2};
};

TEST_F(TwoSetsOnAChip, HaveTheHighestSumAsPeak) {
    event(kMesh, 100);
    event(kMesh, -100);
    event(kOwn, 50);
    EXPECT_EQ(peak(), 100u);
    event(kMesh, 60);
    EXPECT_EQ(peak(), 110u);
}

TEST_F(TwoSetsOnAChip, EitherOfTwoOverlappingEventsMayCountFirst) {
    event(kMesh, 100);
    const uint64_t level = add(kMesh, 10);
    event(kOwn, 50);
    count(kMesh, level);
    EXPECT_EQ(peak(), 160u);
    event(kMesh, -110);
    event(kOwn, 50);
    EXPECT_EQ(peak(), 160u);
}

// The free came before the other set's allocation, so at most 110 were in use. docs/LIMITS.md says so.
TEST_F(TwoSetsOnAChip, AChainOfThreeOverlappingEventsMayGiveAPeakThatIsTooHigh) {
    event(kMesh, 100);
    const uint64_t level = add(kMesh, 10);  // overlaps both others
    event(kMesh, -100);
    event(kOwn, 50);
    count(kMesh, level);
    EXPECT_EQ(peak(), 160u) << "if this is 110, the limit is gone from here, and must go from the document";
}

}  // namespace
}  // namespace ttmem::segment
