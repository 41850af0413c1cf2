// SPDX-License-Identifier: Apache-2.0
#include "census/post_mortem.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <time.h>

#include "census/segment_test_support.hpp"

namespace ttmem::census {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

uint64_t now_ns(clockid_t clock) {
    timespec now{};
    clock_gettime(clock, &now);
    return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

class PostMortems : public testing::Test {
protected:
    void SetUp() override {
        segment_.add_device(small_chip(0x10, 0));
        segment_.add_device(small_chip(0x20, 1));
        segment_.add_set(3);
    }

    DeadProcess dead(uint64_t ns_ago = 0) {
        return {segment_.process(7, 100, ProcessState::dead), now_ns(CLOCK_REALTIME) - ns_ago};
    }

    uint32_t add(segment::AllocationKind kind, uint64_t bytes, uint32_t name = 0) {
        segment::Allocation a = allocation(0, kind, bytes, bytes, bytes);
        a.name = name;
        return segment_.add(a);
    }

    void set_intent(uint32_t slot, uint64_t generation) {
        auto& writer = segment_.entry<segment::WriterLine>(segment::RegionId::writers, 0);
        writer.thread = 71;
        writer.intent = segment::SlotRef{slot, generation}.pack();
    }

    TestSegment segment_;
    SharedDeviceIds ids_ = std::make_shared<DeviceIds>();
};

TEST_F(PostMortems, ListHoldingsByDeviceKindAndName) {
    add(segment::AllocationKind::dram, 30, segment_.add_name("kv_cache"));
    add(segment::AllocationKind::dram, 10);
    add(segment::AllocationKind::l1, 20, segment_.add_name("activations"));
    const DeadProcess who = dead();
    const PostMortem found = examine(who, ids_);
    EXPECT_EQ(found.summary.process.pid, 7u);
    EXPECT_EQ(found.summary.process.state, ProcessState::dead);
    EXPECT_EQ(found.summary.died_ns, who.died_ns);
    EXPECT_EQ(found.summary.allocations, 3u);
    ASSERT_EQ(found.summary.process.devices.size(), 2u);
    EXPECT_EQ(found.summary.process.devices[1].memory[0].used, 40u);
    ASSERT_EQ(found.by_kind.size(), 2u);
    EXPECT_EQ(found.by_kind[0].key, "dram");
    EXPECT_EQ(found.by_kind[0].memory[kDram].used, 80u) << "on two devices";
    EXPECT_EQ(found.by_name[0].key, "kv_cache");
    EXPECT_EQ(found.names, 3u);
    EXPECT_EQ(found.largest[0].used, 30u);
    EXPECT_TRUE(found.summary.exact);
    EXPECT_THAT(found.inexact, IsEmpty());
    EXPECT_EQ(found.summary, summarise(who, ids_));
}

TEST_F(PostMortems, ComeFromTheLedgerAndNotFromCountersThatMayLackTheLastEvent) {
    segment_.add_to_ledger(allocation(0, segment::AllocationKind::dram, 0, 5, 5));
    EXPECT_EQ(summarise(dead(), ids_).process.devices[0].memory[0].used, 5u);
}

TEST_F(PostMortems, ListsHaveLimits) {
    for (uint64_t i = 1; i <= 9; ++i) {
        add(segment::AllocationKind::dram, i, segment_.add_name(std::to_string(i)));
    }
    const PostMortem found = examine(dead(), ids_, {.names = 2, .allocations = 3, .failures = 1});
    EXPECT_EQ(found.by_name.size(), 2u);
    EXPECT_EQ(found.names, 9u);
    EXPECT_EQ(found.largest.size(), 3u);
    EXPECT_EQ(found.largest[0].used, 9u);
    EXPECT_EQ(found.summary.allocations, 9u);
}

TEST_F(PostMortems, AnAllocationInFlightIsReportedWithItsLedgerEntry) {
    const uint32_t slot = add(segment::AllocationKind::dram, 5);
    set_intent(slot, 1);  // published, but the event has not ended
    EXPECT_THAT(examine(dead(), ids_).in_flight,
                ElementsAre(EventInFlight{71, ActionInFlight::allocate, true, slot, 1}));
    set_intent(slot + 1, 1);
    EXPECT_THAT(examine(dead(), ids_).in_flight,
                ElementsAre(EventInFlight{71, ActionInFlight::allocate, false, slot + 1, 1}));
}

TEST_F(PostMortems, AFreeInFlightIsReportedWithItsLedgerEntry) {
    const uint32_t slot = add(segment::AllocationKind::dram, 5);
    set_intent(slot, 2);
    EXPECT_THAT(examine(dead(), ids_).in_flight,
                ElementsAre(EventInFlight{71, ActionInFlight::free, false, slot, 2}));
    segment_.entry<segment::LedgerSlot>(segment::RegionId::ledger, slot).retire(1);
    EXPECT_THAT(examine(dead(), ids_).in_flight,
                ElementsAre(EventInFlight{71, ActionInFlight::free, true, slot, 2}));
}

TEST_F(PostMortems, AnEventInFlightMakesThemInexactWithAReason) {
    set_intent(0, 1);
    const PostMortem found = examine(dead(), ids_);
    EXPECT_FALSE(found.summary.exact);
    EXPECT_EQ(found.summary.in_flight, 1u);
    ASSERT_EQ(found.inexact.size(), 1u);
    EXPECT_EQ(found.inexact[0].reason, Reason::event_in_flight);
    EXPECT_EQ(found.inexact[0].count, 1u);
}

TEST_F(PostMortems, CountersOfTheSegmentMakeThemInexactToo) {
    segment_.header().inexact[static_cast<uint32_t>(segment::Inexact::ledger_full)] = 4;
    const PostMortem found = examine(dead(), ids_);
    EXPECT_FALSE(found.summary.exact);
    ASSERT_EQ(found.inexact.size(), 1u);
    EXPECT_EQ(found.inexact[0].reason, Reason::ledger_full);
    EXPECT_EQ(found.inexact[0].count, 4u);
}

TEST_F(PostMortems, AgesAreThoseAtTheDeath) {
    constexpr uint64_t kSecond = 1'000'000'000;
    segment::Allocation a = allocation(0, segment::AllocationKind::dram, 0, 5, 5);
    a.ticks = 1;
    segment_.add(a);
    const uint64_t uptime = now_ns(CLOCK_MONOTONIC);
    ASSERT_GT(uptime, 10 * kSecond);
    const PostMortem found = examine(dead(10 * kSecond), ids_);
    EXPECT_LT(found.largest[0].age_ns, now_ns(CLOCK_MONOTONIC) - 9 * kSecond);
    EXPECT_GT(found.largest[0].age_ns, uptime - 11 * kSecond);
    EXPECT_GT(found.by_kind[0].oldest_age_ns, uptime - 11 * kSecond);
    EXPECT_LT(found.by_kind[0].oldest_age_ns, now_ns(CLOCK_MONOTONIC) - 9 * kSecond);
}

TEST_F(PostMortems, HaveTheFailures) {
    segment::Failure failure;
    failure.needed_per_bank = 500;
    failure.members = 1;
    uint64_t payload[segment::FailureSlot::kPayloadWords];
    std::memcpy(payload, &failure, sizeof payload);
    segment_.entry<segment::FailureSlot>(segment::RegionId::failures, 0).publish(payload, 1);
    segment_.header().failures[0] = 1;
    const PostMortem found = examine(dead(), ids_);
    ASSERT_EQ(found.failures.size(), 1u);
    EXPECT_EQ(found.failures[0].needed, 500u);
    EXPECT_EQ(found.failure_counts, (FailureCounts{7, 1, 0, 0}));
    EXPECT_EQ(found.summary.failures, 1u);
}

TEST_F(PostMortems, DevicesKeepTheNumbersThatTheHostGaveThem) {
    ids_->assign({{asic_key(0x20), 0, 0}});
    ids_->assign({{asic_key(0x10), 1, 0}});
    const PostMortem found = examine(dead(), ids_);
    ASSERT_EQ(found.summary.process.devices.size(), 2u);
    EXPECT_EQ(found.summary.process.devices[0].id, 0u);
    EXPECT_EQ(found.summary.process.devices[0].logical_id, 1u);
}

}  // namespace
}  // namespace ttmem::census
