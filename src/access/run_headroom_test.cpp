// SPDX-License-Identifier: Apache-2.0
#include "access/run_headroom.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "census/segment_test_support.hpp"

namespace ttmem::access {
namespace {

using segment::AllocationKind;
using testing::SizeIs;
using view::LeastHeadroom;

constexpr uint64_t kTick = 16;       // the resolution of events
constexpr int64_t kWholeL1 = 500;    // census::small_chip()
constexpr uint64_t kL1Base = 0x100;  // its base

// A process that places buffers and circular buffers in the L1 of one chip.
class L1User {
public:
    L1User() {
        segment_.add_device(census::small_chip(0x10, 0));
        mesh_ = segment_.add_set(1);
        own_ = segment_.add_set(1);
    }

    uint32_t place(AllocationKind kind, uint64_t offset, uint64_t bytes, bool is_own = false) {
        auto a = census::allocation(is_own ? own_ : mesh_, kind, kL1Base + offset, bytes, bytes);
        a.ticks = ++time_ * kTick;
        return segment_.add(a);
    }
    void free(uint32_t slot) { segment_.free(slot, ++time_ * kTick); }

    // Where nothing is live.
    void reuse_slots() { segment_.header().slots_used.store(0); }

    census::Process process(uint32_t pid, census::Lifetime lifetime = {}) {
        census::Process process = segment_.process(pid);
        process.lifetime = lifetime;
        return process;
    }

private:
    census::TestSegment segment_;
    uint8_t mesh_ = 0;
    uint8_t own_ = 0;
    uint64_t time_ = 0;
};

LeastHeadroom least_of(const census::Census& census) {
    RunHeadroom headroom;
    headroom.follow(census);
    const auto rows = headroom.finish(census);
    EXPECT_THAT(rows, SizeIs(1));
    return rows.empty() ? LeastHeadroom{} : rows[0];
}

TEST(RunHeadroom, TheLeastOfAllTimesCountsWhateverIsLeftAtTheEnd) {
    L1User user;
    const auto buffer = user.place(AllocationKind::l1, 400, 100);
    const auto program = user.place(AllocationKind::cb, 0, 150);
    user.free(program);
    user.free(buffer);
    user.place(AllocationKind::cb, 0, 300);
    EXPECT_EQ(least_of(census::census_of(user.process(1))),
              (LeastHeadroom{.device = 0, .headroom = kWholeL1 - 300, .at_least = kWholeL1 - 300}))
        << "the buffer was freed before the program with the larger circular buffers came";
    user.place(AllocationKind::l1, 310, 10, true);
    EXPECT_EQ(least_of(census::census_of(user.process(1))).headroom, 10)
        << "buffers of all sets on the chip count";
}

TEST(RunHeadroom, AChipThatNobodyUsesHasItsWholeL1) {
    L1User user;
    EXPECT_EQ(least_of(census::census_of(user.process(1))),
              (LeastHeadroom{.device = 0, .headroom = kWholeL1, .at_least = kWholeL1}));
}

TEST(RunHeadroom, EventsThatWereOverwrittenMakeItAnUpperBound) {
    L1User user;
    for (int i = 0; i < 20; ++i) {
        user.free(user.place(AllocationKind::cb, 0, 400));
    }
    const LeastHeadroom least = least_of(census::census_of(user.process(1)));
    EXPECT_EQ(least.headroom, kWholeL1 - 400);
    EXPECT_EQ(least.at_least, std::nullopt);
    EXPECT_GT(least.missing, 0u);
}

// The run has many times the records of its ring, which is read before it overflows.
TEST(RunHeadroom, ALongRunIsDecidedIfItsEventsAreReadInTime) {
    constexpr int kEvents = 40'000;
    constexpr int kEventsAtOnce = 8;
    L1User user;
    const census::Census census = census::census_of(user.process(1));
    RunHeadroom headroom;
    for (int event = 0; event < kEvents; event += 2) {
        const bool is_worst = event == kEvents / 2;
        const uint64_t bytes = is_worst ? 444 : static_cast<uint64_t>(100 + event % 300);
        user.reuse_slots();
        user.free(user.place(AllocationKind::cb, 0, bytes));
        if (event % kEventsAtOnce == 0) {
            headroom.follow(census);
        }
    }
    EXPECT_EQ(
        headroom.finish(census),
        (std::vector<LeastHeadroom>{{.device = 0, .headroom = kWholeL1 - 444, .at_least = kWholeL1 - 444}}));
}

TEST(RunHeadroom, ProcessesAtTheSameTimeGiveBounds) {
    L1User one;
    L1User other;
    one.place(AllocationKind::l1, 400, 100);
    other.place(AllocationKind::cb, 0, 150);
    EXPECT_EQ(least_of(census::census_of(one.process(1, {0, 1}), other.process(2, {2, 3}))),
              (LeastHeadroom{.device = 0, .headroom = 350, .at_least = 350}));
    EXPECT_EQ(least_of(census::census_of(one.process(1, {0, 2}), other.process(2, {1, 3}))),
              (LeastHeadroom{.device = 0, .headroom = 350, .at_least = 250}));
}

}  // namespace
}  // namespace ttmem::access
