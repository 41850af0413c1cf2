// SPDX-License-Identifier: Apache-2.0
#include "daemon/watch/post_mortems.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "census/segment_test_support.hpp"

namespace ttmem::daemon {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct PostMortemsTest : testing::Test {
    PostMortemsTest() {
        holding.add_device(census::small_chip(0x10, 0));
        holding.add(census::allocation(holding.add_set(1), segment::AllocationKind::dram, 0x1000, 40, 40));
    }
    void die(PostMortems& in, uint32_t pid, bool holds = true, uint32_t uid = 1000) {
        census::Process process = (holds ? holding : empty).process(pid, 100, census::ProcessState::dead);
        process.identity.uid = uid;
        in.add({std::move(process), pid});
    }
    static std::vector<uint32_t> pids_in(const PostMortems& post_mortems) {
        std::vector<uint32_t> pids;
        for (const census::DeadProcess& dead : post_mortems.newest_first()) {
            pids.push_back(dead.process.identity.pid);
        }
        return pids;
    }

    census::TestSegment holding;
    census::TestSegment empty;
};

TEST_F(PostMortemsTest, TheNewestIsListedFirstAndTheOldestDroppedFirst) {
    PostMortems some({2, UINT64_MAX});
    for (const uint32_t pid : {1u, 2u, 3u}) {
        die(some, pid);
    }
    EXPECT_THAT(pids_in(some), ElementsAre(3, 2));
    EXPECT_EQ(some.dropped(), 1u);
}

TEST_F(PostMortemsTest, AProcessWithTwoSourcesIsKeptOnceByItsSegment) {
    for (const bool segment_first : {true, false}) {
        PostMortems some;
        for (const bool is_segment : {segment_first, !segment_first}) {
            census::Process process = holding.process(1, 100, census::ProcessState::dead);
            process.source = is_segment ? census::ProcessSource::segment : census::ProcessSource::classic;
            some.add({std::move(process), 1});
        }
        ASSERT_THAT(pids_in(some), ElementsAre(1));
        EXPECT_EQ(some.newest_first()[0].process.source, census::ProcessSource::segment);
        EXPECT_EQ(some.dropped(), 0u);
        EXPECT_EQ(some.deaths().all, 1u);
        EXPECT_EQ(some.deaths().holding_memory, 1u);
    }
}

TEST_F(PostMortemsTest, ProcessesThatHeldNothingAreDroppedFirst) {
    PostMortems some({2, UINT64_MAX});
    die(some, 1);
    die(some, 2, false);
    die(some, 3);
    EXPECT_THAT(pids_in(some), ElementsAre(3, 1));
}

TEST_F(PostMortemsTest, DroppedPostMortemsStayCounted) {
    PostMortems some({1, UINT64_MAX});
    die(some, 1);
    die(some, 2, false);
    die(some, 3);
    EXPECT_EQ(some.deaths().all, 3u);
    EXPECT_EQ(some.deaths().holding_memory, 2u);
}

TEST_F(PostMortemsTest, BytesAreBounded) {
    PostMortems some({100, holding.size() * 2});
    for (const uint32_t pid : {1u, 2u, 3u}) {
        die(some, pid);
    }
    EXPECT_THAT(pids_in(some), ElementsAre(3, 2));
    PostMortems tight({100, 1});
    die(tight, 1);
    EXPECT_THAT(pids_in(tight), IsEmpty()) << "larger than all room";
    EXPECT_EQ(tight.dropped(), 1u);
}

TEST_F(PostMortemsTest, ManyDeathsOfOneUserLeaveThoseOfOthers) {
    PostMortems some({4, UINT64_MAX});
    die(some, 1, true, 1000);
    for (uint32_t pid = 2; pid < 100; ++pid) {
        die(some, pid, true, 1001);
    }
    EXPECT_THAT(pids_in(some), ElementsAre(99, 98, 97, 1));
}

TEST_F(PostMortemsTest, BytesOfOneUserLeaveThoseOfOthers) {
    PostMortems some({100, holding.size() * 2});
    die(some, 1, true, 1000);
    die(some, 2, true, 1001);
    die(some, 3, true, 1001);
    EXPECT_THAT(pids_in(some), ElementsAre(3, 1));
}

TEST_F(PostMortemsTest, AProcessWithManySegmentsDiesOnce) {
    PostMortems some;
    for (int segment = 0; segment < 100; ++segment) {
        die(some, 7, segment == 50);
    }
    die(some, 8);
    EXPECT_EQ(some.deaths().all, 2u);
    EXPECT_EQ(some.deaths().holding_memory, 2u);
}

TEST_F(PostMortemsTest, AProcessThatExecutesAnotherProgramDoesNotDie) {
    PostMortems some;
    some.add({holding.process(1, 100, census::ProcessState::dead), 1, census::Ending::exec});
    EXPECT_THAT(pids_in(some), ElementsAre(1));
    EXPECT_EQ(some.deaths().all, 0u);
    EXPECT_EQ(some.deaths().replaced, 1u);
    die(some, 1);
    EXPECT_EQ(some.deaths().all, 1u);
}

}  // namespace
}  // namespace ttmem::daemon
