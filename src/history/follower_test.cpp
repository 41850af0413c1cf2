// SPDX-License-Identifier: Apache-2.0
#include "history/follower.hpp"

#include <gtest/gtest.h>

#include "history/tracked_process_test_support.hpp"

namespace ttmem::history {
namespace {

TEST(Follower, ReturnsNewEventsInOrder) {
    const TrackedProcess process;
    const ttmem_set set = process.open_set();
    process.allocate(set, 100);
    const segment::Reader reader = TrackedProcess::reader();
    Log log(64);
    Follower follower(reader, 7);
    EXPECT_EQ(follower.follow(reader, log), 0u) << "what was before is no news";

    ttmem_free(process.allocate(set, 200));
    ttmem_close_set(set);
    EXPECT_EQ(follower.follow(reader, log), 4u);  // closing the set frees the first allocation
    EXPECT_EQ(follower.lost(), 0u);
    const RecordType expected[] = {RecordType::allocation, RecordType::free, RecordType::free,
                                   RecordType::set_closed};
    for (uint64_t i = 0; i < 4; ++i) {
        const Record* record = log.at(i + 1);
        ASSERT_NE(record, nullptr);
        EXPECT_EQ(record->type, expected[i]);
        EXPECT_EQ(record->process, 7u);
        EXPECT_EQ(follower.sets().version(record->set)->members, 1u);
    }
    EXPECT_EQ(log.at(1)->event.requested, 200u);
    EXPECT_EQ(log.at(3)->event.requested, 100u);
}

TEST(Follower, OfANewProcessReturnsAllItsEvents) {
    const TrackedProcess process;
    const ttmem_set set = process.open_set();
    process.allocate(set, 100);
    const segment::Reader reader = TrackedProcess::reader();
    Log log(64);
    Follower follower(reader, 7, Follower::StartPosition::beginning);
    EXPECT_EQ(follower.follow(reader, log, 1), 1u) << "a bound is kept";
    EXPECT_EQ(follower.follow(reader, log), 1u);
    EXPECT_EQ(log.at(1)->type, RecordType::set_opened);
    EXPECT_EQ(log.at(2)->type, RecordType::allocation);
    EXPECT_EQ(follower.lost(), 0u);
}

TEST(Follower, AGapIsARecordWithItsCount) {
    const TrackedProcess process;
    const ttmem_set set = process.open_set();
    const segment::Reader reader = TrackedProcess::reader();
    Log log(64);
    Follower follower(reader, 1);
    for (int i = 0; i < 50; ++i) {
        ttmem_free(process.allocate(set, 100));
    }
    EXPECT_EQ(follower.follow(reader, log), 15u);
    EXPECT_EQ(follower.lost(), 85u);
    ASSERT_EQ(log.newest(), 16u);
    EXPECT_EQ(log.at(16)->type, RecordType::gap);
    EXPECT_EQ(log.at(16)->count, 85u);
}

TEST(Follower, AnEventOfAClosedSetKeepsItsDevicesWhenTheIndexIsUsedAgain) {
    const TrackedProcess process;
    const segment::Reader reader = TrackedProcess::reader();
    Log log(4096);
    Follower follower(reader, 1);
    uint32_t first = 0;
    for (int i = 0; i < 300; ++i) {  // more than the table has entries
        const ttmem_set set = process.open_set();
        process.allocate(set, 100);
        follower.follow(reader, log);
        first = first == 0 ? log.at(1)->set : first;
        ttmem_close_set(set);
        follower.follow(reader, log);
    }
    ASSERT_NE(first, 0u);
    EXPECT_EQ(follower.lost(), 0u);
    EXPECT_NE(log.at(log.newest())->set, first);
    EXPECT_EQ(follower.sets().version(first)->members, 1u);
}

TEST(Log, KeepsTheNewestAndCountsTheRest) {
    Log log(4);
    EXPECT_EQ(log.at(1), nullptr);
    for (int i = 0; i < 6; ++i) {
        log.add();
    }
    EXPECT_EQ(log.oldest(), 3u);
    EXPECT_EQ(log.newest(), 6u);
    EXPECT_EQ(log.at(2), nullptr);
    EXPECT_EQ(log.at(3)->sequence, 3u);
    EXPECT_EQ(log.at(6)->sequence, 6u);
    EXPECT_EQ(log.at(7), nullptr);
}

}  // namespace
}  // namespace ttmem::history
