// SPDX-License-Identifier: Apache-2.0
#include "daemon/post_mortems.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "census/segment_test_support.hpp"

namespace ttmem::daemon {
namespace {

using testing::ElementsAre;

struct PostMortemsTest : testing::Test {
    PostMortemsTest() {
        holding.add_device(census::small_chip(0x10, 0));
        holding.add(census::allocation(holding.add_set(1), segment::Kind::dram, 0x1000, 40, 40));
    }
    void die(PostMortems& in, uint32_t pid, bool holds = true) {
        in.add({(holds ? holding : empty).process(pid, 100, census::State::dead), pid});
    }
    static std::vector<uint32_t> pids_in(const PostMortems& post_mortems) {
        std::vector<uint32_t> pids;
        for (const census::Dead& dead : post_mortems.newest_first()) {
            pids.push_back(dead.process.identity.pid);
        }
        return pids;
    }

    census::TestSegment holding;
    census::TestSegment empty;
};

TEST_F(PostMortemsTest, TheNewestComesFirstAndTheOldestGoesFirst) {
    PostMortems some({2, UINT64_MAX});
    for (const uint32_t pid : {1u, 2u, 3u}) {
        die(some, pid);
    }
    EXPECT_THAT(pids_in(some), ElementsAre(3, 2));
    EXPECT_EQ(some.dropped(), 1u);
}

TEST_F(PostMortemsTest, AProcessThatTwoSourcesKnewIsKeptOnceByItsSegment) {
    for (const bool segment_first : {true, false}) {
        PostMortems some;
        for (const bool is_segment : {segment_first, !segment_first}) {
            census::Process process = holding.process(1, 100, census::State::dead);
            process.source = is_segment ? census::Source::segment : census::Source::classic;
            some.add({std::move(process), 1});
        }
        ASSERT_THAT(pids_in(some), ElementsAre(1));
        EXPECT_EQ(some.newest_first()[0].process.source, census::Source::segment);
        EXPECT_EQ(some.dropped(), 0u);
        EXPECT_EQ(some.deaths().all, 1u);
        EXPECT_EQ(some.deaths().holding_memory, 1u);
    }
}

TEST_F(PostMortemsTest, WhatHeldNothingGoesBeforeWhatHeldSomething) {
    PostMortems some({2, UINT64_MAX});
    die(some, 1);
    die(some, 2, false);
    die(some, 3);
    EXPECT_THAT(pids_in(some), ElementsAre(3, 1));
}

TEST_F(PostMortemsTest, DeathsAreCountedWhetherTheyAreKeptOrNot) {
    PostMortems some({1, UINT64_MAX});
    die(some, 1);
    die(some, 2, false);
    die(some, 3);
    EXPECT_EQ(some.deaths().all, 3u);
    EXPECT_EQ(some.deaths().holding_memory, 2u);
}

TEST_F(PostMortemsTest, BytesAreBoundedAndTheNewestIsKeptAllTheSame) {
    PostMortems some({100, holding.size() * 2});
    for (const uint32_t pid : {1u, 2u, 3u}) {
        die(some, pid);
    }
    EXPECT_THAT(pids_in(some), ElementsAre(3, 2));
    PostMortems tight({100, 1});
    die(tight, 1);
    die(tight, 2);
    EXPECT_THAT(pids_in(tight), ElementsAre(2));
}

}  // namespace
}  // namespace ttmem::daemon
