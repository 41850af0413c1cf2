// SPDX-License-Identifier: Apache-2.0
#include "daemon/roster.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "census/figures.hpp"
#include "census/segment_test_support.hpp"

namespace ttmem::daemon {
namespace {

using sources::segments::FileId;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

struct RosterTest : testing::Test {
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
    Roster roster;
};

TEST_F(RosterTest, AProcessThatTwoSourcesKnowCountsOnceByItsSegment) {
    for (const uint32_t pid : {3u, 4u}) {
        census::Process classic = process(pid);
        classic.source = census::Source::classic;
        roster.add(classic, FileId{2, pid});
    }
    roster.add(process(3), FileId{1, 3});
    const auto census = roster.census();
    EXPECT_THAT(pids_in(census), ElementsAre(3, 4));
    EXPECT_EQ(census.processes[0].source, census::Source::segment);
    EXPECT_EQ(census.processes[1].source, census::Source::classic);
    EXPECT_EQ(count(census, census::Depth::pools).processes[1].source, "classic");
}

TEST_F(RosterTest, ACensusHasAllByPid) {
    roster.add(process(9), FileId{1, 9});
    roster.add(process(3), FileId{1, 3});
    EXPECT_THAT(pids_in(roster.census()), ElementsAre(3, 9));
    EXPECT_EQ(roster.known_files(), (std::set<FileId>{{1, 3}, {1, 9}}));
}

TEST_F(RosterTest, AFileIsAttachedOnce) {
    EXPECT_TRUE(roster.add(process(3), FileId{1, 3}));
    EXPECT_FALSE(roster.add(process(3), FileId{1, 3}));
    EXPECT_TRUE(roster.add(process(3), FileId{1, 4})) << "a process may have two";
}

TEST_F(RosterTest, ANumberIsNeverGivenTwice) {
    const auto first = roster.add(process(3), FileId{1, 3});
    ASSERT_TRUE(first);
    const auto removed = roster.remove(*first);
    EXPECT_EQ(removed->process.identity.pid, 3u);
    EXPECT_EQ(removed->number, *first);
    EXPECT_FALSE(roster.remove(*first));
    EXPECT_NE(roster.add(process(3), FileId{1, 3}), first);
}

TEST_F(RosterTest, ACensusKeepsTheLedgersOfThoseWhoLeave) {
    const auto number = roster.add(process(3), FileId{1, 3});
    const census::Census census = roster.census();
    roster.remove(*number);
    EXPECT_THAT(roster.census().processes, IsEmpty());
    EXPECT_THAT(census.processes[0].ledger->devices(), SizeIs(0));
}

TEST_F(RosterTest, OneUsersManyDoNotKeepOutAnother) {
    Roster small({4, 2});
    EXPECT_TRUE(small.add(process(1, 1000), FileId{1, 1}));
    EXPECT_TRUE(small.add(process(2, 1000), FileId{1, 2}));
    EXPECT_FALSE(small.add(process(3, 1000), FileId{1, 3}));
    EXPECT_TRUE(small.add(process(4, 1001), FileId{1, 4}));
    const census::Census census = small.census();
    EXPECT_THAT(pids_in(census), ElementsAre(1, 2, 4));
    ASSERT_THAT(census.skipped, SizeIs(1));
    EXPECT_EQ(census.skipped[0].pid, 3u);
    EXPECT_FALSE(census.skipped[0].is_foreign) << "something is missing in the figures";
}

TEST_F(RosterTest, DevicesKeepTheirNumbersThoughTheirProcessesLeave) {
    segment.add_device(census::small_chip(0x20, 0));
    const auto number = roster.add(process(3), FileId{1, 3});
    EXPECT_EQ(census::count(roster.census()).devices[0].id, 0u);
    roster.remove(*number);
    census::TestSegment other;
    other.add_device(census::small_chip(0x10, 0));  // would come first by its ASIC id
    other.add_device(census::small_chip(0x20, 1));
    roster.add(other.process(4), FileId{1, 4});
    const census::Figures figures = census::count(roster.census());
    ASSERT_THAT(figures.devices, SizeIs(2));
    EXPECT_EQ(figures.devices[0].asic_id, 0x20u);
    EXPECT_EQ(figures.devices[1].asic_id, 0x10u);
}

}  // namespace
}  // namespace ttmem::daemon
