// SPDX-License-Identifier: Apache-2.0

// The work of one computation of figures and of one list, per user.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "census/allocations.hpp"
#include "census/figures.hpp"
#include "census/groups.hpp"
#include "census/scan_shares.hpp"
#include "census/segment_test_support.hpp"

namespace ttmem::census {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// A user's earlier process on chip 0x10, a later one with a lower pid on chip 0x20, and another user's on chip 0x30.
// Each has one set with 40 bytes of DRAM, 10 of L1 and a circular buffer.
struct WorkBudgetsTest : testing::Test {
    WorkBudgetsTest() {
        uint64_t asic_id = 0;
        for (TestSegment* segment : {&earlier, &later, &others}) {
            segment->add_device(small_chip(asic_id += 0x10, 0));
            const uint8_t set = segment->add_set(1);
            segment->add(allocation(set, segment::AllocationKind::dram, 0x1000, 39, 40));
            segment->add(allocation(set, segment::AllocationKind::l1, 0x200, 10, 16));
            segment->add(allocation(set, segment::AllocationKind::cb, 0x100, 8, 16));
        }
        census = census_of(later.process(3, 200), earlier.process(7, 100), others.process(9, 300));
        census.processes[0].identity.uid = kUser;
        census.processes[1].identity.uid = kUser;
        census.processes[2].identity.uid = kOtherUser;
    }

    static constexpr size_t kSlots = 3;  // per process

    TestSegment earlier, later, others;
    Census census;
};

TEST_F(WorkBudgetsTest, AnHonestHostIsFarBelowThem) {
    EXPECT_THAT(compute_figures(census).inexact, IsEmpty());
}

TEST_F(WorkBudgetsTest, WithoutCounterBlocksUsedBytesAreKnownAndCountsAreNot) {
    census.work_budgets.counter_blocks = 1;
    const Figures figures = compute_figures(census);
    EXPECT_THAT(figures.inexact, ElementsAre(Inexactness{3, Reason::work_limit, 1}));
    EXPECT_EQ(figures.devices[0].memory[kDram].requested, 39u);
    EXPECT_TRUE(figures.devices[0].memory[kDram].is_count_known);
    EXPECT_EQ(figures.devices[1].memory[kDram].used, 40u);
    EXPECT_FALSE(figures.devices[1].memory[kDram].is_count_known);
    EXPECT_TRUE(figures.devices[2].memory[kDram].is_count_known);
    EXPECT_EQ(figures.processes[0].devices[0].memory[kDram], (Holding{40, 40, 0, true, false}));
    EXPECT_EQ(figures.processes[1].devices[0].memory[kDram], (Holding{40, 39, 1}));
}

TEST_F(WorkBudgetsTest, ALedgerBeyondTheSlotsIsNotScannedAndItsFreeBlocksAndCoresAreUnknown) {
    census.work_budgets.slots = kSlots;
    const Figures figures = compute_figures(census);
    EXPECT_THAT(figures.inexact, ElementsAre(Inexactness{3, Reason::work_limit, 1}));
    for (const size_t known : {0u, 2u}) {
        EXPECT_EQ(figures.devices[known].memory[kDram].largest_free, 990u);
        EXPECT_NE(figures.devices[known].l1_worst_core.headroom, std::nullopt);
    }
    const DeviceFigures& unknown = figures.devices[1];
    EXPECT_EQ(unknown.memory[kDram].largest_free, std::nullopt);
    EXPECT_EQ(unknown.l1_worst_core, WorstCore{});
    EXPECT_EQ(unknown.memory[kDram].used, 40u);
    EXPECT_TRUE(unknown.memory[kDram].is_count_known);
}

TEST_F(WorkBudgetsTest, AScanThatIsStillValidCostsNothing) {
    census.work_budgets.slots = kSlots;
    compute_figures(census);
    EXPECT_THAT(compute_figures(census).inexact, IsEmpty()) << "the first ledger did not change";
    census.work_budgets.slots = 0;
    EXPECT_THAT(compute_figures(census).inexact, IsEmpty());
}

TEST_F(WorkBudgetsTest, BanksThatDifferOnEachDeviceCostASlotPerBlock) {
    TestSegment hostile;
    uint64_t members = 0;
    for (uint32_t i = 0; i < 10; ++i) {
        ttmem_device_info info = small_chip(0x100 + i, i);
        info.memory[TTMEM_DRAM].size_per_bank += i;
        members |= uint64_t{1} << hostile.add_device(info);
    }
    const uint8_t set = hostile.add_set(members);
    for (uint64_t i = 0; i < 4; ++i) {
        hostile.add(allocation(set, segment::AllocationKind::dram, 0x1000 + i * 16, 16, 16));
    }
    Census one = census_of(hostile.process(7));
    one.work_budgets.slots = 4 + 9 * 4 - 1;
    EXPECT_THAT(compute_figures(one).inexact, ElementsAre(Inexactness{7, Reason::work_limit, 1}));
    one.work_budgets.slots = 4 + 9 * 4;
    EXPECT_THAT(compute_figures(one).inexact, IsEmpty());
}

TEST_F(WorkBudgetsTest, TheLedgerOfADeadProcessCountsToo) {
    for (Process& process : census.processes) {
        process.state = ProcessState::dead;
    }
    census.work_budgets.slots = kSlots;
    const Figures figures = compute_figures(census, Depth::pools);
    EXPECT_THAT(figures.inexact, ElementsAre(Inexactness{3, Reason::work_limit, 1}));
    EXPECT_EQ(figures.processes[0].devices[0].memory[kDram].used, 40u) << "from its counters";
    EXPECT_FALSE(figures.processes[0].devices[0].memory[kDram].is_count_known);
    EXPECT_TRUE(figures.processes[1].devices[0].memory[kDram].is_count_known);
}

// Lists.

TEST_F(WorkBudgetsTest, AListLeavesOutTheLaterProcessesOfAUserBeyondItsShare) {
    census.work_budgets.slots = kSlots;
    share_scans(census, std::nullopt);
    EXPECT_THAT(beyond_shares(census), ElementsAre(Inexactness{3, Reason::list_limit, 1}));
    std::vector<uint32_t> pids;
    const AllocationPage page = *list_allocations(census, {.kind = Kind::dram});
    for (const LiveAllocation& one : page.allocations) {
        pids.push_back(one.pid);
    }
    EXPECT_THAT(pids, ElementsAre(7, 9));
    EXPECT_EQ(list_groups(census, {.group = GroupBy::pid})->groups.size(), 2u);
    EXPECT_EQ(list_groups(census, {.group = GroupBy::pid})->allocations, 2 * kSlots);
}

TEST_F(WorkBudgetsTest, AProcessThatTheQuestionNamesHasALargerShare) {
    census.work_budgets.slots = 0;
    census.work_budgets.slots_of_one_process = kSlots;
    share_scans(census, 3);
    EXPECT_THAT(beyond_shares(census), IsEmpty());
    EXPECT_EQ(list_allocations(census, {.pid = 3})->total, kSlots);
}

TEST_F(WorkBudgetsTest, SlotsThatAppearAfterTheShareWasTakenAreNotScanned) {
    share_scans(census, std::nullopt);
    others.add(allocation(0, segment::AllocationKind::dram, 0x2000, 1, 16));
    EXPECT_EQ(list_allocations(census, {})->total, 3 * kSlots);
    share_scans(census, std::nullopt);
    EXPECT_EQ(list_allocations(census, {})->total, 3 * kSlots + 1);
}

TEST_F(WorkBudgetsTest, OfTwoSegmentsOfOneProcessTheCountIsKnownIfBothAre) {
    census.work_budgets.counter_blocks = 1;
    TestSegment same;
    same.add_device(small_chip(0x20, 0));
    same.add(allocation(same.add_set(1), segment::AllocationKind::dram, 0x1000, 4, 4));
    census.processes[1] = same.process(3, 200);
    census.processes[1].identity.uid = kUser;
    const Figures figures = compute_figures(census, Depth::pools);
    ASSERT_EQ(figures.processes[0].devices.size(), 1u);
    EXPECT_EQ(figures.processes[0].devices[0].memory[kDram].used, 44u);
    EXPECT_FALSE(figures.processes[0].devices[0].memory[kDram].is_count_known);
}

}  // namespace
}  // namespace ttmem::census
