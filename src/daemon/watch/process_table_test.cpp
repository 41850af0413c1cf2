// SPDX-License-Identifier: Apache-2.0
#include "daemon/watch/process_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "census/figures.hpp"
#include "census/segment_test_support.hpp"

namespace ttmem::daemon {
namespace {

using sources::segments::ExaminedFile;
using sources::segments::FileId;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

struct ProcessTableTest : testing::Test {
    census::Process process(uint32_t pid, uint32_t uid = 0) {
        census::Process one = segment.process(pid);
        one.identity.uid = uid;
        return one;
    }
    static std::vector<uint32_t> pids_in(const census::Census& census) {
        std::vector<uint32_t> pids;
        for (const census::Process& one : census.processes) {
            pids.push_back(one.identity.pid);
        }
        return pids;
    }

    census::TestSegment segment;
    ProcessTable process_table;
};

TEST_F(ProcessTableTest, AProcessWithTwoSourcesCountsOnceByItsSegment) {
    for (const uint32_t pid : {3u, 4u}) {
        census::Process classic = process(pid);
        classic.source = census::ProcessSource::classic;
        process_table.add(classic, ExaminedFile{{2, pid}});
    }
    process_table.add(process(3), ExaminedFile{{1, 3}});
    const auto census = process_table.census();
    EXPECT_THAT(pids_in(census), ElementsAre(3, 4));
    EXPECT_EQ(census.processes[0].source, census::ProcessSource::segment);
    EXPECT_EQ(census.processes[1].source, census::ProcessSource::classic);
    EXPECT_EQ(compute_figures(census, census::Depth::pools).processes[1].source,
              census::ProcessSource::classic);
}

TEST_F(ProcessTableTest, ACensusIsOrderedByPid) {
    process_table.add(process(9), ExaminedFile{{1, 9}});
    process_table.add(process(3), ExaminedFile{{1, 3}});
    EXPECT_THAT(pids_in(process_table.census()), ElementsAre(3, 9));
    EXPECT_EQ(process_table.known_files(), (std::set<FileId>{{1, 3}, {1, 9}}));
}

TEST_F(ProcessTableTest, AFileIsAttachedOnce) {
    EXPECT_TRUE(process_table.add(process(3), ExaminedFile{{1, 3}}));
    EXPECT_FALSE(process_table.add(process(3), ExaminedFile{{1, 3}}));
    EXPECT_TRUE(process_table.add(process(3), ExaminedFile{{1, 4}})) << "a process may have two";
}

TEST_F(ProcessTableTest, NumbersAreNeverReused) {
    const auto first = process_table.add(process(3), ExaminedFile{{1, 3}});
    ASSERT_TRUE(first);
    const auto removed = process_table.remove(*first);
    EXPECT_EQ(removed->process.identity.pid, 3u);
    EXPECT_EQ(removed->number, *first);
    EXPECT_FALSE(process_table.remove(*first));
    EXPECT_NE(process_table.add(process(3), ExaminedFile{{1, 3}}), first);
}

TEST_F(ProcessTableTest, ACensusKeepsTheLedgersOfRemovedProcesses) {
    const auto number = process_table.add(process(3), ExaminedFile{{1, 3}});
    const census::Census census = process_table.census();
    process_table.remove(*number);
    EXPECT_THAT(process_table.census().processes, IsEmpty());
    EXPECT_THAT(census.processes[0].ledger->devices(), SizeIs(0));
}

TEST_F(ProcessTableTest, OneUserCannotUseUpTheTable) {
    BudgetLimits limits = kBudgetLimits;
    limits[static_cast<size_t>(Budget::processes)] = {2, 4};
    const auto budgets = std::make_shared<Budgets>(limits);
    ProcessTable small(budgets);
    EXPECT_TRUE(small.add(process(1, 1000), ExaminedFile{{1, 1}}));
    EXPECT_TRUE(small.add(process(2, 1000), ExaminedFile{{1, 2}}));
    EXPECT_FALSE(small.add(process(3, 1000), ExaminedFile{{1, 3}}));
    EXPECT_TRUE(small.add(process(4, 1001), ExaminedFile{{1, 4}}));
    const census::Census census = small.census();
    EXPECT_THAT(pids_in(census), ElementsAre(1, 2, 4));
    ASSERT_THAT(census.omissions, SizeIs(1));
    EXPECT_EQ(census.omissions[0].pid, 3u);
    EXPECT_FALSE(census.omissions[0].is_foreign) << "the figures are incomplete";
    EXPECT_EQ(budgets->uses()[static_cast<size_t>(Budget::processes)].refused, 1u);
}

TEST_F(ProcessTableTest, ARemovedProcessLeavesRoomForTheNextOfItsUser) {
    BudgetLimits limits = kBudgetLimits;
    limits[static_cast<size_t>(Budget::processes)] = {1, 4};
    ProcessTable small(std::make_shared<Budgets>(limits));
    const auto number = small.add(process(1, 1000), ExaminedFile{{1, 1}});
    EXPECT_FALSE(small.add(process(2, 1000), ExaminedFile{{1, 2}}));
    small.remove(*number);
    EXPECT_TRUE(small.add(process(2, 1000), ExaminedFile{{1, 2}}));
}

TEST_F(ProcessTableTest, FiguresAreInexactUntilTheFirstScanIsOver) {
    process_table.set_first_scan_running(true);
    const auto inexact = census::compute_figures(process_table.census()).inexact;
    ASSERT_THAT(inexact, SizeIs(1));
    EXPECT_EQ(inexact[0].reason, census::Reason::scan_running);
    process_table.set_first_scan_running(false);
    EXPECT_THAT(census::compute_figures(process_table.census()).inexact, IsEmpty());
}

TEST_F(ProcessTableTest, AProcessThatChangedItsUserIsInexact) {
    const auto number = process_table.add(process(3), ExaminedFile{{1, 3}});
    process_table.set_changed_user(*number);
    const auto inexact = census::compute_figures(process_table.census()).inexact;
    ASSERT_THAT(inexact, SizeIs(1));
    EXPECT_EQ(inexact[0].reason, census::Reason::changed_user);
    EXPECT_EQ(inexact[0].pid, 3u);
}

TEST_F(ProcessTableTest, DevicesKeepTheirNumbersWhenTheirProcessesEnd) {
    segment.add_device(census::small_chip(0x20, 0));
    const auto number = process_table.add(process(3), ExaminedFile{{1, 3}});
    EXPECT_EQ(census::compute_figures(process_table.census()).devices[0].id, 0u);
    process_table.remove(*number);
    census::TestSegment other;
    other.add_device(census::small_chip(0x10, 0));  // would be first by its ASIC id
    other.add_device(census::small_chip(0x20, 1));
    process_table.add(other.process(4), ExaminedFile{{1, 4}});
    const census::Figures figures = census::compute_figures(process_table.census());
    ASSERT_THAT(figures.devices, SizeIs(2));
    EXPECT_EQ(figures.devices[0].asic_id, 0x20u);
    EXPECT_EQ(figures.devices[1].asic_id, 0x10u);
}

}  // namespace
}  // namespace ttmem::daemon
