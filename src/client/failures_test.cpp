// SPDX-License-Identifier: Apache-2.0

// Failed allocations and clashes of circular buffers: what is kept of them, and which of many are kept.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <vector>

#include "tests/support/child.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/own_segment.hpp"
#include "ttmem/ttmem.h"

namespace {

using namespace ttmem;
using namespace ttmem::test;
using segment::Event;
using segment::EventType;
using segment::Failure;
using segment::FailureType;
using segment::Inexact;

ttmem_out_of_memory failure_in(ttmem_set set) {
    ttmem_out_of_memory failure{};
    failure.set = set;
    failure.kind = TTMEM_L1;
    failure.requested = 1000;
    failure.needed_per_bank = 2000;
    failure.free_per_bank = 1500;
    failure.largest_free_per_bank = 500;
    return failure;
}

ttmem_cb_clash clash_in(ttmem_set set) {
    ttmem_cb_clash clash{};
    clash.set = set;
    clash.core_x = 3;
    clash.core_y = 4;
    clash.program = 7;
    clash.requested = 1000;
    clash.cb_end = 0x2000;
    clash.lowest_buffer = 0x1000;
    clash.free_per_bank = 1500;
    return clash;
}

TRACKED_TEST(AllocationFailed, IsKeptWithAllThatWasReportedAndWhereItHappened) {
    const ttmem_device devices[] = {make_device(0), make_device(1)};
    const ttmem_set set = ttmem_open_set(devices, 2, "mesh");
    ttmem_scope_push("ttnn::conv2d");
    const ttmem_out_of_memory report = failure_in(set);
    ttmem_allocation_failed(&report);

    const segment::Reader reader = own_reader();
    EXPECT_EQ(reader.failure_count(FailureType::out_of_memory), 1u);
    EXPECT_EQ(reader.failure_count(FailureType::cb_clash), 0u);
    const std::vector<Failure> failures = reader.failures();
    ASSERT_EQ(failures.size(), 1u);
    const Failure& kept = failures[0];
    EXPECT_EQ(static_cast<FailureType>(kept.type), FailureType::out_of_memory);
    EXPECT_EQ(kept.kind, TTMEM_L1);
    EXPECT_EQ(kept.set, set & 0xff);
    EXPECT_EQ(kept.members, 3u);
    EXPECT_EQ(kept.requested, 1000u);
    EXPECT_EQ(kept.needed_per_bank, 2000u);
    EXPECT_EQ(kept.free_per_bank, 1500u);
    EXPECT_EQ(kept.largest_free_per_bank, 500u);
    EXPECT_EQ(kept.program, 0u);
    EXPECT_EQ(kept.cb_end, 0u);
    EXPECT_EQ(kept.lowest_buffer, 0u);
    EXPECT_EQ(kept.has_blocker, 0);
    EXPECT_EQ(reader.name(kept.name), "ttnn::conv2d");
    EXPECT_EQ(kept.thread, static_cast<uint32_t>(gettid()));
}

TRACKED_TEST(CbOverflowed, IsAClashWithTheEndOfL1AndNoBuffer) {
    ttmem_cb_overflow overflow{};
    overflow.set = make_set();
    overflow.core_x = 3;
    overflow.core_y = 4;
    overflow.program = 7;
    overflow.requested = 1000;
    overflow.cb_end = 0x2000;
    overflow.l1_end = 0x1800;
    overflow.free_per_bank = 1500;
    ttmem_cb_overflowed(&overflow);
    ttmem_cb_overflowed(nullptr);

    const segment::Reader reader = own_reader();
    EXPECT_EQ(reader.failure_count(FailureType::cb_clash), 1u);
    ASSERT_EQ(reader.failures().size(), 1u);
    const Failure kept = reader.failures()[0];
    EXPECT_EQ(static_cast<FailureType>(kept.type), FailureType::cb_clash);
    EXPECT_EQ(kept.cb_end, 0x2000u);
    EXPECT_EQ(kept.l1_end, 0x1800u);
    EXPECT_EQ(kept.lowest_buffer, 0u);
    EXPECT_EQ(kept.has_blocker, 0);
    EXPECT_EQ(kept.core_x, 3);
    EXPECT_EQ(kept.core_y, 4);
    EXPECT_EQ(kept.program, 7u);
    EXPECT_EQ(kept.requested, 1000u);
    EXPECT_EQ(kept.free_per_bank, 1500u);
}

TRACKED_TEST(CbClashed, OnACoreBeyondTheRangeOfTheSegmentIsOnAnUnknownCore) {
    ttmem_cb_clash report = clash_in(make_set());
    report.core_x = 256;
    ttmem_cb_clashed(&report);
    report.core_x = 3;
    report.core_y = 0xffff;
    ttmem_cb_clashed(&report);

    const std::vector<Failure> kept = own_reader().failures();
    ASSERT_EQ(kept.size(), 2u);
    for (const Failure& failure : kept) {
        EXPECT_EQ(failure.core_x, segment::kUnknownCore);
        EXPECT_EQ(failure.core_y, segment::kUnknownCore);
    }
}

TRACKED_TEST(CbClashed, IsKeptWithTheAllocationInTheWay) {
    const ttmem_set set = make_set();
    ttmem_scope_push("decoder.0");
    const ttmem_handle blocker = ttmem_allocate(set, TTMEM_L1, 0x1000, 10, 32, 99);
    ttmem_scope_pop();
    ttmem_scope_push("ttnn::conv2d");
    ttmem_cb_clash report = clash_in(set);
    report.blocker = blocker;
    ttmem_cb_clashed(&report);
    ttmem_free(blocker);  // the failure keeps a copy

    const segment::Reader reader = own_reader();
    EXPECT_EQ(reader.failure_count(FailureType::cb_clash), 1u);
    EXPECT_EQ(reader.failure_count(FailureType::out_of_memory), 0u);
    ASSERT_EQ(reader.failures().size(), 1u);
    const Failure kept = reader.failures()[0];
    EXPECT_EQ(static_cast<FailureType>(kept.type), FailureType::cb_clash);
    EXPECT_EQ(kept.kind, TTMEM_CB);
    EXPECT_EQ(kept.set, set & 0xff);
    EXPECT_EQ(kept.core_x, 3);
    EXPECT_EQ(kept.core_y, 4);
    EXPECT_EQ(kept.program, 7u);
    EXPECT_EQ(kept.requested, 1000u);
    EXPECT_EQ(kept.cb_end, 0x2000u);
    EXPECT_EQ(kept.lowest_buffer, 0x1000u);
    EXPECT_EQ(kept.free_per_bank, 1500u);
    EXPECT_EQ(kept.needed_per_bank, 0u);
    EXPECT_EQ(kept.largest_free_per_bank, 0u);
    EXPECT_EQ(reader.name(kept.name), "ttnn::conv2d");
    ASSERT_EQ(kept.has_blocker, 1);
    EXPECT_EQ(kept.blocker_kind, TTMEM_L1);
    EXPECT_EQ(kept.blocker_address, 0x1000u);
    EXPECT_EQ(kept.blocker_requested, 10u);
    EXPECT_EQ(kept.blocker_reserved, 32u);
    EXPECT_EQ(kept.blocker_owner, 99u);
    EXPECT_EQ(reader.name(kept.blocker_name), "decoder.0");
}

TRACKED_TEST(CbClashed, ABlockerThatIsNotLiveIsNotKept) {
    const ttmem_set set = make_set();
    const ttmem_handle gone = ttmem_allocate(set, TTMEM_L1, 1, 10, 32, 1);
    ttmem_free(gone);
    ttmem_allocate(set, TTMEM_L1, 2, 10, 32, 2);  // in the same slot
    for (const ttmem_handle blocker : {ttmem_handle{0}, gone, gone ^ uint64_t{0xffff} << 45}) {
        ttmem_cb_clash report = clash_in(set);
        report.blocker = blocker;
        ttmem_cb_clashed(&report);
    }
    EXPECT_EQ(own_reader().failures().size(), 3u);
    for (const Failure& failure : own_reader().failures()) {
        EXPECT_EQ(failure.has_blocker, 0);
    }
}

TRACKED_TEST(Failure, InAWrongSetOrOfAWrongKindIsCountedAndNotKept) {
    const ttmem_set set = make_set();
    ttmem_out_of_memory report = failure_in(0);
    ttmem_allocation_failed(&report);
    const ttmem_cb_clash clash = clash_in(set + 1);
    ttmem_cb_clashed(&clash);
    report = failure_in(set);
    for (const uint32_t kind : {9u, 0x100u, UINT32_MAX}) {
        report.kind = kind;
        ttmem_allocation_failed(&report);
    }
    ttmem_allocation_failed(nullptr);
    ttmem_cb_clashed(nullptr);
    const segment::Reader reader = own_reader();
    EXPECT_EQ(reader.inexact(Inexact::unknown_set), 2u);
    EXPECT_EQ(reader.inexact(Inexact::unknown_kind), 3u);
    EXPECT_TRUE(reader.failures().empty());
}

TRACKED_TEST(Failure, OfManyTheFirstFewAndTheLastFewAreKeptAndAllAreCounted) {
    const ttmem_set set = make_set();
    constexpr uint64_t kMany = 1000;
    for (uint64_t i = 0; i < kMany; ++i) {
        ttmem_out_of_memory report = failure_in(set);
        report.requested = i;
        ttmem_allocation_failed(&report);
    }
    const segment::Reader reader = own_reader();
    EXPECT_EQ(reader.failure_count(FailureType::out_of_memory), kMany);
    const std::vector<Failure> failures = reader.failures();
    ASSERT_EQ(failures.size(), segment::kFailuresPerType);
    for (uint64_t i = 0; i < failures.size(); ++i) {
        const uint64_t expected = i < segment::kFirstFailures ? i : kMany - segment::kFailuresPerType + i;
        EXPECT_EQ(failures[i].requested, expected);
    }
}

TRACKED_TEST(Failure, IsAnEventInTheRing) {
    const ttmem_set set = make_set();
    const ttmem_out_of_memory report = failure_in(set);
    ttmem_allocation_failed(&report);
    const ttmem_cb_clash clash = clash_in(set);
    ttmem_cb_clashed(&clash);
    const segment::Reader reader = own_reader();
    segment::Cursor cursor;
    std::vector<Event> events;
    reader.follow(cursor, [&](uint32_t, const Event& event) { events.push_back(event); });
    ASSERT_EQ(events.size(), 3u);
    EXPECT_EQ(events[1].type, EventType::failure);
    EXPECT_EQ(events[1].failure, FailureType::out_of_memory);
    EXPECT_EQ(events[1].address, 0u);
    EXPECT_EQ(events[1].requested, 1000u);
    EXPECT_EQ(events[1].set, set & 0xff);
    EXPECT_EQ(events[2].failure, FailureType::cb_clash);
    EXPECT_EQ(events[2].address, 0u);
}

}  // namespace
