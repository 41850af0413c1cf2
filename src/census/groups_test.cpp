// SPDX-License-Identifier: Apache-2.0
#include "census/groups.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ctime>

#include "census/key_index.hpp"
#include "census/segment_test_support.hpp"

namespace ttmem::census {
namespace {

using testing::ElementsAre;
using testing::Pair;

// Two processes: pid 7 has a mesh of the chips 0x10 and 0x20, pid 8 has the chip 0x20.
class Groups : public testing::Test {
protected:
    void SetUp() override {
        one_.add_device(small_chip(0x10, 0));
        one_.add_device(small_chip(0x20, 1));
        two_.add_device(small_chip(0x20, 0));
        one_.add_set(3);
        two_.add_set(1);
        census_ = census_of(one_.process(7), two_.process(8));
    }

    static segment::Allocation dram(uint64_t requested, uint64_t reserved, uint32_t name = 0) {
        segment::Allocation a = allocation(0, segment::AllocationKind::dram, 0, requested, reserved);
        a.name = name;
        return a;
    }

    std::vector<std::pair<std::string, uint64_t>> used(const GroupQuery& query) {
        std::vector<std::pair<std::string, uint64_t>> result;
        const GroupPage page = *list_groups(census_, query);
        for (const Group& group : page.groups) {
            uint64_t bytes = 0;  // a group of these tests has one kind
            for (const GroupMemory& memory : group.memory) {
                EXPECT_TRUE(bytes == 0 || memory.used == 0);
                bytes = std::max(bytes, memory.used);
            }
            result.emplace_back(group.key, bytes);
        }
        return result;
    }

    TestSegment one_, two_;
    Census census_;
};

TEST_F(Groups, OfAnEmptyHostAreNone) {
    const Census empty;
    EXPECT_EQ(list_groups(empty, {})->total, 0u);
}

TEST_F(Groups, ByNameGoOverAllProcessesAndTheLargestComesFirst) {
    const uint32_t matmul = one_.add_name("matmul", one_.add_name("decoder.3"));
    one_.add(dram(9, 10, matmul));
    one_.add(dram(9, 10, matmul));
    one_.add(dram(30, 35));
    two_.add_name("filler");  // gives the same name another number in this ledger
    two_.add(dram(4, 5, two_.add_name("matmul", two_.add_name("decoder.3"))));
    EXPECT_THAT(used({.group = GroupBy::name}), ElementsAre(Pair("", 70), Pair("decoder.3/matmul", 45)))
        << "sums are over both devices of the mesh";
    const Group group = list_groups(census_, {.group = GroupBy::name})->groups[1];
    EXPECT_EQ(group.memory[kDram], (GroupMemory{45, 40, 3}));
    EXPECT_EQ(group.count, 3u);
    EXPECT_EQ(group.largest, 10u);
    EXPECT_EQ(group.pid, std::nullopt);
}

TEST_F(Groups, AMeshAllocationCountsOnEveryDevice) {
    one_.add(dram(10, 10));
    two_.add(dram(5, 5));
    EXPECT_THAT(used({.group = GroupBy::kind}), ElementsAre(Pair("dram", 25)));
    EXPECT_THAT(used({.group = GroupBy::pid}), ElementsAre(Pair("7", 20), Pair("8", 5)));
    EXPECT_THAT(used({.device = "1", .group = GroupBy::pid}), ElementsAre(Pair("7", 10), Pair("8", 5)));
    EXPECT_THAT(used({.device = "0,1", .group = GroupBy::pid}), ElementsAre(Pair("7", 20), Pair("8", 5)));
    EXPECT_EQ(list_groups(census_, {.group = GroupBy::pid})->groups[0].count, 1u);
    EXPECT_THAT(used({.group = GroupBy::device}), ElementsAre(Pair("1", 15), Pair("0", 10)));
    EXPECT_EQ(list_groups(census_, {.group = GroupBy::device})->groups[0].device, 1u);
    EXPECT_THAT(used({.device = "0", .group = GroupBy::device}), ElementsAre(Pair("0", 10)));
}

TEST_F(Groups, AnAllocationWhoseDevicesAreNotShownIsUngroupedOnce) {
    TestSegment hostile;
    hostile.add_device(small_chip(0x30, 0));
    hostile.add_device(small_chip(0x40, 1));
    hostile.add_set(3);
    hostile.add(dram(7, 7));
    census_.processes.push_back(hostile.process(9));
    census_.processes.back().identity.uid = 1000;
    census_.work_budgets.own_devices = 2;
    EXPECT_EQ(list_groups(census_, {.group = GroupBy::device})->ungrouped, 0u);
    hostile.add_device(small_chip(0x50, 2));
    hostile.add_set(4);
    segment::Allocation beyond = dram(9, 9);
    beyond.set = 1;
    hostile.add(beyond);
    const GroupPage page = *list_groups(census_, {.group = GroupBy::device});
    EXPECT_EQ(page.allocations, 2u);
    EXPECT_EQ(page.ungrouped, 1u);
    EXPECT_EQ(page.total, 2u) << "of this user; the others hold nothing";
    EXPECT_EQ(list_groups(census_, {.group = GroupBy::pid})->ungrouped, 0u);
}

TEST_F(Groups, SystemMemoryIsOnNoDevice) {
    one_.add(allocation(0, segment::AllocationKind::system_memory, 0, 10, 10));
    EXPECT_THAT(used({.group = GroupBy::device}), ElementsAre());
    EXPECT_THAT(used({.group = GroupBy::kind}), ElementsAre(Pair("system_memory", 10)));
}

TEST_F(Groups, NeverAddUpKinds) {
    const uint32_t name = two_.add_name("layer");
    for (const auto& [kind, bytes] :
         {std::pair<segment::AllocationKind, uint64_t>{segment::AllocationKind::dram, 100},
          {segment::AllocationKind::l1, 20},
          {segment::AllocationKind::cb, 3}}) {
        segment::Allocation a = allocation(0, kind, 0, bytes, bytes);
        a.name = name;
        a.owner = 9;
        two_.add(a);
    }
    for (const GroupBy by : {GroupBy::name, GroupBy::owner, GroupBy::device}) {
        const GroupPage page = *list_groups(census_, {.group = by});
        ASSERT_EQ(page.groups.size(), 1u);
        EXPECT_EQ(page.groups[0].memory[kDram], (GroupMemory{100, 100, 1})) << name_of(by);
        EXPECT_EQ(page.groups[0].memory[kL1], (GroupMemory{20, 20, 1})) << name_of(by);
        EXPECT_EQ(page.groups[0].memory[kCb], (GroupMemory{3, 3, 1})) << name_of(by);
        EXPECT_EQ(page.groups[0].count, 3u) << name_of(by);
    }
    EXPECT_EQ(list_groups(census_, {.group = GroupBy::kind})->total, 3u);
}

TEST_F(Groups, AreSortedByDramThenByTheNextKind) {
    const auto add = [this](uint64_t owner, segment::AllocationKind kind, uint64_t bytes) {
        segment::Allocation a = allocation(0, kind, 0, bytes, bytes);
        a.owner = owner;
        two_.add(a);
    };
    add(1, segment::AllocationKind::l1, 500);
    add(2, segment::AllocationKind::dram, 1);
    add(3, segment::AllocationKind::dram, 1);
    add(3, segment::AllocationKind::l1, 7);
    EXPECT_THAT(list_groups(census_, {.group = GroupBy::owner})->groups,
                ElementsAre(testing::Field(&Group::key, "3"), testing::Field(&Group::key, "2"),
                            testing::Field(&Group::key, "1")));
}

TEST_F(Groups, ByScopeAreTheFirstPartsOfNames) {
    const uint32_t attention = one_.add_name("attention", one_.add_name("decoder.3"));
    one_.add(dram(1, 1, one_.add_name("matmul", attention)));
    one_.add(dram(2, 2, one_.add_name("softmax", attention)));
    one_.add(dram(8, 8, one_.add_name("embedding")));
    one_.add(dram(16, 16));
    EXPECT_THAT(used({.group = GroupBy::scope}),
                ElementsAre(Pair("", 32), Pair("embedding", 16), Pair("decoder.3", 6)));
    EXPECT_THAT(used({.group = GroupBy::scope, .scope_depth = 2}),
                ElementsAre(Pair("", 32), Pair("embedding", 16), Pair("decoder.3/attention", 6)));
    EXPECT_EQ(list_groups(census_, {.group = GroupBy::scope, .scope_depth = 9})->total, 4u);
}

TEST_F(Groups, OfThreadsOwnersAndSetsAreOfOneProcess) {
    for (TestSegment* segment : {&one_, &two_}) {
        segment::Allocation a = dram(1, 1);
        a.thread = 55;
        a.owner = 66;
        segment->add(a);
    }
    for (const GroupBy by : {GroupBy::thread, GroupBy::owner, GroupBy::set, GroupBy::pid}) {
        const GroupPage page = *list_groups(census_, {.group = by});
        ASSERT_EQ(page.groups.size(), 2u) << name_of(by);
        EXPECT_EQ(page.groups[0].pid, 7u);
        EXPECT_EQ(page.groups[1].pid, 8u);
    }
    EXPECT_THAT(used({.group = GroupBy::thread}), ElementsAre(Pair("55", 2), Pair("55", 1)));
    EXPECT_THAT(used({.group = GroupBy::owner}), ElementsAre(Pair("66", 2), Pair("66", 1)));
}

TEST_F(Groups, SetsOfOneNameAreSeveral) {
    const uint8_t other = one_.add_set(1);
    one_.add(dram(1, 1));
    segment::Allocation a = dram(2, 2);
    a.set = other;
    one_.add(a);
    EXPECT_EQ(list_groups(census_, {.group = GroupBy::set})->total, 2u);
}

TEST_F(Groups, AllocationsWithoutBytesAreCountedSeparately) {
    one_.add(allocation(0, segment::AllocationKind::dram, 0, 50, 50, segment::AllocationFlag::planned));
    one_.add(allocation(0, segment::AllocationKind::dram, 0, 40, 40, segment::AllocationFlag::view));
    one_.add(dram(3, 4));
    const Group group = list_groups(census_, {.group = GroupBy::kind})->groups.at(0);
    EXPECT_EQ(group.memory[kDram], (GroupMemory{8, 6, 1}));
    EXPECT_EQ(group.count, 1u);
    EXPECT_EQ(group.planned, 1u);
    EXPECT_EQ(group.views, 1u);
    EXPECT_EQ(group.largest, 4u);
    EXPECT_EQ(group.kind, census::Kind::dram);
    EXPECT_EQ(list_groups(census_, {.group = GroupBy::kind})->allocations, 3u);
}

TEST_F(Groups, TheAgeIsThatOfTheOldestAllocation) {
    segment::Allocation a = dram(1, 1);
    a.ticks = UINT64_MAX;  // in the future: no age
    one_.add(a);
    EXPECT_EQ(list_groups(census_, {})->groups.at(0).oldest_age_ns, 0u);
    a.ticks = 1;
    one_.add(a);
    EXPECT_GT(list_groups(census_, {})->groups.at(0).oldest_age_ns, 0u);
}

TEST_F(Groups, ByAgeAreTheAgesThatPeopleSpeakOf) {
    constexpr uint64_t kSecond = 1'000'000'000;
    const uint64_t now = segment::Clock::now(segment::ClockKind::monotonic_ns).ticks;
    for (const auto& [age, bytes] : {std::pair<uint64_t, uint64_t>{5, 1}, {7, 2}, {300, 10}}) {
        segment::Allocation a = dram(bytes, bytes);
        a.ticks = now - std::min(now, age * kSecond);
        one_.add(a);
    }
    EXPECT_THAT(used({.group = GroupBy::age}), ElementsAre(Pair("1 to 10 min", 20), Pair("1 to 10 s", 6)));
}

TEST_F(Groups, AndListsCanStartAtATime) {
    const uint64_t mark = segment::Clock::now(segment::ClockKind::monotonic_ns).ticks;
    segment::Allocation before = dram(1, 1);
    before.ticks = mark - 1;
    segment::Allocation at = dram(2, 2);
    at.ticks = mark;
    segment::Allocation after = dram(4, 4);
    after.ticks = mark + 1;
    for (const auto& one : {before, at, after}) {
        one_.add(one);
    }
    EXPECT_THAT(used({.since = mark, .group = GroupBy::pid}), ElementsAre(Pair("7", 8)));
    EXPECT_EQ(list_allocations(census_, {.since = mark})->total, 1u);
}

TEST_F(Groups, ALimitKeepsTheLargestAndReportsTheTotalNumber) {
    for (uint64_t i = 1; i <= 20; ++i) {
        segment::Allocation a = dram(i, i);
        a.owner = i;
        one_.add(a);
    }
    const GroupPage page = *list_groups(census_, {.limit = 2, .group = GroupBy::owner});
    EXPECT_EQ(page.total, 20u);
    EXPECT_EQ(page.allocations, 20u);
    EXPECT_THAT(used({.limit = 2, .group = GroupBy::owner}), ElementsAre(Pair("20", 40), Pair("19", 38)));
}

TEST_F(Groups, CanBeSortedBothWays) {
    const uint32_t a = one_.add_name("a");
    const uint32_t b = one_.add_name("b");
    const uint32_t c = one_.add_name("c");
    for (const auto& [name, requested, used_bytes, ticks] :
         {std::tuple(a, 30u, 31u, 3u), std::tuple(b, 10u, 90u, 1u), std::tuple(c, 20u, 60u, 2u)}) {
        segment::Allocation one = dram(requested, used_bytes, name);
        one.ticks = ticks;
        one_.add(one);
    }
    const auto keys = [&](Sort sort, bool reverse) {
        std::string text;
        for (const auto& [key, bytes] : used({.sort = sort, .reverse = reverse})) {
            text += key;
        }
        return text;
    };
    EXPECT_EQ(keys(Sort::used, false), "bca");
    EXPECT_EQ(keys(Sort::used, true), "acb");
    EXPECT_EQ(keys(Sort::requested, false), "acb");
    EXPECT_EQ(keys(Sort::age, false), "bca");
    EXPECT_EQ(keys(Sort::name, false), "abc");
    EXPECT_EQ(keys(Sort::name, true), "cba");
    EXPECT_THAT(used({.reverse = true, .limit = 1}), ElementsAre(Pair("a", 62)));
}

TEST_F(Groups, HoldTheSameFiltersAsTheList) {
    one_.add(dram(1, 1, one_.add_name("matmul")));
    two_.add(dram(2, 2));
    one_.add(allocation(0, segment::AllocationKind::l1, 0, 4, 4));
    EXPECT_THAT(used({.pid = 8, .group = GroupBy::kind}), ElementsAre(Pair("dram", 2)));
    EXPECT_THAT(used({.device = "0", .kind = census::Kind::l1, .group = GroupBy::kind}),
                ElementsAre(Pair("l1", 4)));
    EXPECT_THAT(used({.name = "mat", .group = GroupBy::kind}), ElementsAre(Pair("dram", 2)));
    EXPECT_FALSE(list_groups(census_, {.pid = 9}).has_value());
    EXPECT_FALSE(list_groups(census_, {.device = "9"}).has_value());
}

TEST_F(Groups, SumsThatDoNotFitStopAtTheLargestNumber) {
    one_.add_to_ledger(dram(UINT64_MAX, UINT64_MAX));
    one_.add_to_ledger(dram(1, 1));
    EXPECT_THAT(used({.group = GroupBy::kind}), ElementsAre(Pair("dram", UINT64_MAX)));
}

// A multiplication by this and two shifts were the hash. Whoever knows a hash can make keys that all have one place.
TEST(KeyIndex, KeysMadeForAnUnseededHashAreFoundAsQuicklyAsOthers) {
    constexpr uint64_t kInverse = 0xf1de'83e1'9937'733d;  // of 0x9e37'79b9'7f4a'7c15
    const std::clock_t start = std::clock();
    KeyIndex index(kMostGroups);
    for (uint64_t i = 0; i < 100'000; ++i) {
        const uint64_t place = i << 20;
        const uint64_t product = (place ^ place >> 29 ^ place >> 58) * kInverse;
        EXPECT_EQ(index.of(product ^ product >> 32), i);
    }
    EXPECT_LT(std::clock() - start, CLOCKS_PER_SEC) << "five thousand million steps otherwise";
}

TEST(KeyIndex, NumbersKeysInTheOrderOfFirstSightUpToItsBound) {
    KeyIndex index(1000);
    for (int round = 0; round < 2; ++round) {
        for (uint64_t i = 0; i < 1000; ++i) {
            EXPECT_EQ(index.of(i << 32 | i), i);
            EXPECT_EQ(index.of(i << 32 | i), i);
        }
    }
    EXPECT_EQ(index.of(UINT64_MAX), KeyIndex::kNoRoom);
    EXPECT_EQ(index.of(UINT64_MAX), KeyIndex::kNoRoom);
    EXPECT_EQ(index.of(0), 0u);
    EXPECT_EQ(index.keys().size(), 1000u);
}

}  // namespace
}  // namespace ttmem::census
