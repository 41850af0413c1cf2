// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <thread>

#include "census/post_mortem.hpp"
#include "census/programs.hpp"
#include "census/segment_test_support.hpp"

namespace ttmem::census {
namespace {

// The answers to all queries, from one census.
struct Answers {
    std::vector<uint64_t> used;
    std::vector<Group> groups;
    uint64_t programs = 0;
    uint64_t failures = 0;
    PostMortemSummary dead;

    bool operator==(const Answers&) const = default;
};

Answers ask(const Census& census) {
    Answers answers;
    const AllocationPage page = *list_allocations(census, {.device = "0", .name = "a", .sort = Sort::name});
    for (const LiveAllocation& live : page.allocations) {
        answers.used.push_back(live.used);
    }
    answers.groups = list_groups(census, {.group = GroupBy::name})->groups;
    for (Group& group : answers.groups) {
        group.oldest_age_ns = 0;  // ages differ between reads
    }
    answers.programs = list_programs(census, {})->total;
    answers.failures = list_failures(census, {})->total;
    answers.dead = summarise({census.processes.front(), 1}, census.device_ids);
    return answers;
}

TEST(Queries, OfSeveralThreadsAtOnceGetTheSameAnswers) {
    TestSegment segment;
    segment.add_device(small_chip(0x10, 0));
    const uint8_t set = segment.add_set(1);
    const uint32_t name = segment.add_name("activations");
    for (uint64_t i = 1; i < 100; ++i) {
        segment::Allocation a = allocation(
            set, i % 2 == 0 ? segment::AllocationKind::dram : segment::AllocationKind::cb, i, i, i);
        a.name = i % 3 == 0 ? name : 0;
        segment.add(a);
    }
    const Census census = census_of(segment.process(7));
    const Answers alone = ask(census);
    EXPECT_EQ(alone.used.size(), 33u);
    EXPECT_EQ(alone.programs, 1u);
    std::vector<Answers> together(4);
    std::vector<std::thread> threads;
    for (Answers& answers : together) {
        threads.emplace_back([&] {
            for (int i = 0; i < 50; ++i) {
                answers = ask(census);
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    for (const Answers& answers : together) {
        EXPECT_EQ(answers, alone);
    }
}

}  // namespace
}  // namespace ttmem::census
