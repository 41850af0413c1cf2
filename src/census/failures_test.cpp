// SPDX-License-Identifier: Apache-2.0
#include "census/failures.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "census/segment_test_support.hpp"

namespace ttmem::census {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class Failures : public testing::Test {
protected:
    void SetUp() override {
        segment_.add_device(small_chip(0x10, 0));
        segment_.add_device(small_chip(0x20, 1));
        segment_.add_set(3);
        census_ = census_of(segment_.process(7));
    }

    void add(segment::Failure failure) {
        auto& count = segment_.header().failures[failure.type];
        uint64_t payload[segment::FailureSlot::kPayloadWords];
        std::memcpy(payload, &failure, sizeof payload);
        const uint32_t index =
            segment::failure_index(static_cast<FailureType>(failure.type), count.fetch_add(1));
        segment_.entry<segment::FailureSlot>(segment::RegionId::failures, index).publish(payload, 1);
    }

    static segment::Failure out_of_memory(uint64_t needed, uint64_t free, uint64_t largest_free) {
        segment::Failure failure;
        failure.kind = static_cast<uint8_t>(segment::AllocationKind::dram);
        failure.ticks = 5;
        failure.members = 3;
        failure.requested = 4 * needed;
        failure.needed_per_bank = needed;
        failure.free_per_bank = free;
        failure.largest_free_per_bank = largest_free;
        return failure;
    }

    FailureFigures only() {
        const FailurePage page = *list_failures(census_, {});
        EXPECT_EQ(page.failures.size(), 1u);
        return page.failures.at(0);
    }

    TestSegment segment_;
    Census census_;
};

TEST_F(Failures, AreNoneWhereAllWentWell) {
    const FailurePage page = *list_failures(census_, {});
    EXPECT_THAT(page.failures, IsEmpty());
    EXPECT_THAT(page.counts, IsEmpty());
}

TEST_F(Failures, OfAllocationsHaveTheRequestAndTheFreeMemory) {
    segment::Failure failure = out_of_memory(600, 800, 200);
    failure.name = segment_.add_name("kv_cache");
    failure.thread = 71;
    add(failure);
    const FailureFigures found = only();
    EXPECT_EQ(found.pid, 7u);
    EXPECT_EQ(found.type, FailureType::out_of_memory);
    EXPECT_THAT(found.devices, ElementsAre(0, 1));
    EXPECT_EQ(found.kind, Kind::dram);
    EXPECT_EQ(found.requested, 2400u);
    EXPECT_EQ(found.needed, 600u);
    EXPECT_EQ(found.free, 800u);
    EXPECT_EQ(found.largest_free, 200u);
    EXPECT_EQ(found.missing, 400u);
    EXPECT_EQ(found.name, "kv_cache");
    EXPECT_EQ(found.thread, 71u);
    EXPECT_GT(found.age_ns, 0u);
    EXPECT_GT(found.time_ns, 0u);
    EXPECT_EQ(found.cb_end, std::nullopt);
    EXPECT_EQ(found.core, std::nullopt);
    EXPECT_EQ(found.blocker, std::nullopt);
    EXPECT_EQ(found.address, std::nullopt);
}

TEST_F(Failures, HaveAVerdict) {
    add(out_of_memory(1001, 900, 900));  // a bank has 1,000 bytes
    EXPECT_EQ(only().verdict, FailureVerdict::too_big);
    SetUp();
    const auto verdict = [this](uint64_t needed, uint64_t free, uint64_t largest) {
        segment_.header().failures[0] = 0;
        add(out_of_memory(needed, free, largest));
        return only().verdict;
    };
    EXPECT_EQ(verdict(600, 500, 500), FailureVerdict::not_enough);
    EXPECT_EQ(verdict(600, 800, 500), FailureVerdict::fragmented);
    EXPECT_EQ(verdict(600, 800, 700), FailureVerdict::unknown);
}

TEST_F(Failures, OfCircularBuffersBeyondL1NameTheEndOfL1AndNoBuffer) {
    const ttmem_memory_info l1 = small_chip(0x10, 0).memory[TTMEM_L1];
    segment::Failure failure;
    failure.type = static_cast<uint8_t>(FailureType::cb_clash);
    failure.kind = static_cast<uint8_t>(segment::AllocationKind::cb);
    failure.members = 1;
    failure.l1_end = l1.base + l1.size_per_bank;
    failure.cb_end = failure.l1_end + 16;
    add(failure);
    const FailureFigures found = only();
    EXPECT_EQ(found.l1_end, failure.l1_end);
    EXPECT_EQ(found.lowest_buffer, std::nullopt);
    EXPECT_EQ(found.missing, 16u);
    EXPECT_EQ(found.program, 0u) << "the first program has number 0";
}

TEST_F(Failures, OfCircularBuffersBelowABufferAtTheEndOfL1NameThatBuffer) {
    const ttmem_memory_info l1 = small_chip(0x10, 0).memory[TTMEM_L1];
    segment::Failure failure;
    failure.type = static_cast<uint8_t>(FailureType::cb_clash);
    failure.kind = static_cast<uint8_t>(segment::AllocationKind::cb);
    failure.members = 1;
    failure.lowest_buffer = l1.base + l1.size_per_bank;
    failure.core_x = segment::kUnknownCore;
    failure.core_y = segment::kUnknownCore;
    add(failure);
    const FailureFigures found = only();
    EXPECT_EQ(found.lowest_buffer, failure.lowest_buffer);
    EXPECT_EQ(found.l1_end, std::nullopt);
    EXPECT_EQ(found.core, std::nullopt);
}

TEST_F(Failures, OfCircularBuffersOfAnUnknownProgramNameNone) {
    segment::Failure failure;
    failure.type = static_cast<uint8_t>(FailureType::cb_clash);
    failure.kind = static_cast<uint8_t>(segment::AllocationKind::cb);
    failure.members = 1;
    failure.program = TTMEM_UNKNOWN;
    add(failure);
    EXPECT_EQ(only().program, std::nullopt);
}

TEST_F(Failures, OfCircularBuffersNameTheBlockingBufferAndTheOverlap) {
    segment::Failure failure;
    failure.type = static_cast<uint8_t>(FailureType::cb_clash);
    failure.kind = static_cast<uint8_t>(segment::AllocationKind::cb);
    failure.members = 1;
    failure.requested = 500;
    failure.cb_end = 0x500;
    failure.lowest_buffer = 0x480;
    failure.program = 99;
    failure.core_x = 3;
    failure.core_y = 4;
    failure.has_blocker = 1;
    failure.blocker_kind = static_cast<uint8_t>(segment::AllocationKind::l1);
    failure.blocker_address = 0x480;
    failure.blocker_requested = 10;
    failure.blocker_reserved = 16;
    failure.blocker_owner = 5;
    failure.blocker_name = segment_.add_name("activations");
    add(failure);
    const FailureFigures found = only();
    EXPECT_EQ(found.verdict, FailureVerdict::clash);
    EXPECT_EQ(found.cb_end, 0x500u);
    EXPECT_EQ(found.lowest_buffer, 0x480u);
    EXPECT_EQ(found.missing, 0x80u);
    EXPECT_EQ(found.core, (Core{3, 4}));
    EXPECT_EQ(found.program, 99u);
    EXPECT_EQ(found.needed, std::nullopt);
    EXPECT_EQ(found.largest_free, std::nullopt);
    EXPECT_EQ(found.blocker, (Blocker{Kind::l1, 0x480, 10, 16, 5, "activations"}));
}

TEST_F(Failures, OfFreesNameTheAllocation) {
    segment::Failure failure;
    failure.type = static_cast<uint8_t>(FailureType::unknown_free);
    failure.address = 0xdead;
    failure.has_device = 1;
    failure.device = 3;
    add(failure);
    const FailureFigures found = only();
    EXPECT_EQ(found.verdict, FailureVerdict::unknown_free);
    EXPECT_EQ(found.address, 0xdeadu);
    EXPECT_EQ(found.logical_device, 3);
    EXPECT_EQ(found.requested, std::nullopt);
    EXPECT_EQ(found.kind, std::nullopt);
}

TEST_F(Failures, ComeTheLastFirstAndAllAreCounted) {
    for (uint64_t i = 0; i < 100; ++i) {
        segment::Failure failure = out_of_memory(600, 100, 100);
        failure.ticks = i;
        failure.requested = i;
        segment_
            .entry<segment::FailureSlot>(segment::RegionId::failures,
                                         segment::failure_index(FailureType::out_of_memory, i))
            .word[0] = 0;
        add(failure);
    }
    const FailurePage page = *list_failures(census_, {.limit = 2});
    EXPECT_EQ(page.total, segment::kFailuresPerType);
    ASSERT_EQ(page.failures.size(), 2u);
    EXPECT_EQ(page.failures[0].requested, 99u);
    EXPECT_EQ(page.failures[1].requested, 98u);
    EXPECT_THAT(page.counts, ElementsAre(FailureCounts{7, 100, 0, 0}));
}

TEST_F(Failures, AreFoundByDeviceProcessAndType) {
    segment::Failure failure = out_of_memory(600, 100, 100);
    failure.members = 2;
    add(failure);
    EXPECT_EQ(list_failures(census_, {.device = "0"})->total, 0u);
    EXPECT_EQ(list_failures(census_, {.device = "1"})->total, 1u);
    EXPECT_EQ(list_failures(census_, {.type = FailureType::cb_clash})->total, 0u);
    EXPECT_EQ(list_failures(census_, {.type = FailureType::out_of_memory})->total, 1u);
    EXPECT_FALSE(list_failures(census_, {.pid = 8}).has_value());
}

TEST_F(Failures, AreCountedAsTheyAreFiltered) {
    segment::Failure failure = out_of_memory(600, 100, 100);
    failure.members = 2;
    add(failure);
    segment::Failure unknown;
    unknown.type = static_cast<uint8_t>(FailureType::unknown_free);
    add(unknown);
    const auto counts = [this](const FailureQuery& query) { return list_failures(census_, query)->counts; };
    EXPECT_THAT(counts({}), ElementsAre(FailureCounts{7, 1, 0, 1}));
    EXPECT_THAT(counts({.type = FailureType::unknown_free}), ElementsAre(FailureCounts{7, 0, 0, 1}));
    EXPECT_THAT(counts({.type = FailureType::cb_clash}), ElementsAre());
    EXPECT_THAT(counts({.device = "1"}), ElementsAre(FailureCounts{7, 1, 0, 0}));
    EXPECT_THAT(counts({.device = "0"}), ElementsAre());
    segment_.header().failures[0] = 100;  // more than are kept
    EXPECT_THAT(counts({.device = "1"}), ElementsAre(FailureCounts{7, 1, 0, 0, false}));
    EXPECT_THAT(counts({.device = "1", .type = FailureType::unknown_free}), ElementsAre());
    EXPECT_THAT(counts({}), ElementsAre(FailureCounts{7, 100, 0, 1}));
}

TEST_F(Failures, OfASetWhosePlaceAnotherHasTakenHaveNoSetName) {
    segment::Failure failure = out_of_memory(600, 100, 100);
    failure.set = segment_.add_set(1, 10);
    add(failure);  // at tick 5, before that set was opened
    EXPECT_EQ(only().set, "");
}

TEST_F(Failures, WithNumbersThatNothingHasAreShownAsUnknown) {
    segment::Failure failure = out_of_memory(UINT64_MAX, 0, UINT64_MAX);
    failure.kind = 200;
    failure.set = 255;
    failure.members = UINT64_MAX;
    failure.name = UINT32_MAX;
    failure.has_blocker = 255;
    failure.blocker_kind = 255;
    add(failure);
    const FailureFigures found = only();
    EXPECT_EQ(found.kind, std::nullopt);
    EXPECT_EQ(found.missing, 0u);
    EXPECT_EQ(found.blocker->kind, std::nullopt);
}

TEST(FailureTypes, AreFoundByTheirNames) {
    for (const char* name : {"out_of_memory", "cb_clash", "unknown_free"}) {
        EXPECT_EQ(name_of(*base::by_name<FailureType>(name)), name);
    }
    EXPECT_EQ(base::by_name<FailureType>("oom"), std::nullopt);
}

}  // namespace
}  // namespace ttmem::census
