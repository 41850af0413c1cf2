// SPDX-License-Identifier: Apache-2.0

// ttmem_allocate and ttmem_free, as their comments say.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <cstdint>
#include <vector>

#include "tests/support/child.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/own_segment.hpp"
#include "ttmem/ttmem.h"

namespace {

using namespace ttmem;
using namespace ttmem::test;
using segment::AllocationKind;
using segment::FailureType;
using segment::Inexact;
using testing::IsEmpty;

Live live_of(ttmem_set set, AllocationKind kind, uint64_t address, uint64_t requested, uint64_t reserved,
             uint64_t owner) {
    Live live;
    live.set = static_cast<uint8_t>(set & 0xff);
    live.kind = kind;
    live.address = address;
    live.requested = requested;
    live.reserved = reserved;
    live.owner = owner;
    return live;
}

uint64_t all_inexact(const segment::Reader& reader) {
    uint64_t sum = 0;
    for (uint32_t what = 0; what < segment::kInexactCounters; ++what) {
        sum += reader.inexact(static_cast<Inexact>(what));
    }
    return sum;
}

TRACKED_TEST(Allocate, EveryBufferKindIsListedWithAllItsFieldsAndCounted) {
    const ttmem_set set = make_set();
    std::vector<Live> expected;
    for (const AllocationKind kind : {AllocationKind::dram, AllocationKind::l1, AllocationKind::system_memory,
                                      AllocationKind::l1_small, AllocationKind::trace}) {
        const auto number = static_cast<uint64_t>(kind) + 1;
        EXPECT_NE(ttmem_allocate(set, static_cast<uint32_t>(kind), number << 40, 1000 * number, 1024 * number,
                                 number),
                  0u);
        expected.push_back(live_of(set, kind, number << 40, 1000 * number, 1024 * number, number));
    }
    const segment::Reader reader = own_reader();
    EXPECT_THAT(differences(reader, expected), IsEmpty());
    EXPECT_EQ(all_inexact(reader), 0u);
    reader.for_each_live([&](segment::SlotRef, const segment::Allocation& a) {
        EXPECT_EQ(a.thread, static_cast<uint32_t>(gettid()));
        EXPECT_LT(reader.clock().age_ns(a.ticks), 60'000'000'000u);
        return true;
    });
}

TRACKED_TEST(Allocate, ExtremeValuesAreKeptAsTheyAre) {
    const ttmem_set set = make_set();
    constexpr uint64_t kLargest = segment::kMaxAllocationBytes;
    ttmem_allocate(set, TTMEM_DRAM, UINT64_MAX, kLargest, kLargest, UINT64_MAX);
    ttmem_allocate(set, TTMEM_DRAM, 0, 0, 0, 0);
    EXPECT_THAT(differences(own_reader(),
                            {live_of(set, AllocationKind::dram, UINT64_MAX, kLargest, kLargest, UINT64_MAX),
                             live_of(set, AllocationKind::dram, 0, 0, 0, 0)}),
                IsEmpty());
}

TRACKED_TEST(Allocate, AFreeTakesAwayWhatItAdded) {
    const ttmem_set set = make_set();
    const ttmem_handle first = ttmem_allocate(set, TTMEM_DRAM, 1, 10, 32, 1);
    const ttmem_handle second = ttmem_allocate(set, TTMEM_DRAM, 2, 20, 64, 2);
    const segment::Reader reader = own_reader();
    ttmem_free(first);
    EXPECT_THAT(differences(reader, {live_of(set, AllocationKind::dram, 2, 20, 64, 2)}), IsEmpty());
    ttmem_free(second);
    EXPECT_THAT(differences(reader, {}), IsEmpty());
    EXPECT_EQ(pool(reader, set, AllocationKind::dram).peak, 96u);
    EXPECT_EQ(all_inexact(reader), 0u);
}

TRACKED_TEST(Allocate, PlannedAndViewsAreListedAndAddNothing) {
    const ttmem_set set = make_set();
    ttmem_allocate(set, TTMEM_L1 | TTMEM_PLANNED, 1, 100, 128, 1);
    const ttmem_handle view = ttmem_allocate(set, TTMEM_L1 | TTMEM_VIEW, 2, 200, 256, 2);
    ttmem_allocate(set, TTMEM_L1 | TTMEM_PLANNED | TTMEM_VIEW, 3, 300, 512, 3);
    Live planned = live_of(set, AllocationKind::l1, 1, 100, 128, 1);
    planned.flags = segment::AllocationFlag::planned;
    Live both = live_of(set, AllocationKind::l1, 3, 300, 512, 3);
    both.flags = segment::AllocationFlag::planned | segment::AllocationFlag::view;
    const segment::Reader reader = own_reader();
    const segment::PoolTotals totals = pool(reader, set, AllocationKind::l1);
    EXPECT_EQ(totals.used + totals.requested + totals.peak + totals.count, 0u);
    EXPECT_EQ(totals.planned, 2u);
    EXPECT_EQ(totals.views, 1u);
    ttmem_free(view);
    EXPECT_THAT(differences(reader, {planned, both}), IsEmpty());
}

TRACKED_TEST(Allocate, OnlyAnL1BufferHasAddressesPerCore) {
    const ttmem_set set = make_set();
    ttmem_allocate(set, TTMEM_L1 | TTMEM_PER_CORE, 1, 100, 128, 1);
    EXPECT_EQ(ttmem_allocate(set, TTMEM_DRAM | TTMEM_PER_CORE, 1, 100, 128, 1), 0u);
    Live live = live_of(set, AllocationKind::l1, 1, 100, 128, 1);
    live.flags = segment::AllocationFlag::per_core;
    const segment::Reader reader = own_reader();
    EXPECT_THAT(differences(reader, {live}), IsEmpty());
    EXPECT_EQ(pool(reader, set, AllocationKind::l1).used, 128u);
}

TRACKED_TEST(Allocate, AnUnknownReservedSizeCountsTheRequestedOneAndIsCounted) {
    const ttmem_set set = make_set();
    const ttmem_handle handle = ttmem_allocate(set, TTMEM_DRAM, 1, 100, TTMEM_UNKNOWN, 1);
    Live live = live_of(set, AllocationKind::dram, 1, 100, 100, 1);
    live.flags = segment::AllocationFlag::reserved_unknown;
    const segment::Reader reader = own_reader();
    EXPECT_THAT(differences(reader, {live}), IsEmpty());
    EXPECT_EQ(pool(reader, set, AllocationKind::dram).reserved_unknown, 1u);
    ttmem_free(handle);
    EXPECT_THAT(differences(reader, {}), IsEmpty());
}

TRACKED_TEST(Allocate, ImplausibleSizesAreRefusedAndCounted) {
    const ttmem_set set = make_set();
    constexpr uint64_t kTooLarge = segment::kMaxAllocationBytes + 1;
    EXPECT_EQ(ttmem_allocate(set, TTMEM_DRAM, 0, UINT64_MAX, 1, 0), 0u);
    EXPECT_EQ(ttmem_allocate(set, TTMEM_DRAM, 0, UINT64_MAX, TTMEM_UNKNOWN, 0), 0u);
    EXPECT_EQ(ttmem_allocate(set, TTMEM_DRAM, 0, 1, UINT64_MAX - 1, 0), 0u);
    EXPECT_EQ(ttmem_allocate(set, TTMEM_DRAM, 0, kTooLarge, 1, 0), 0u);
    EXPECT_EQ(ttmem_allocate(set, TTMEM_DRAM, 0, 1, kTooLarge, 0), 0u);
    const segment::Reader reader = own_reader();
    EXPECT_EQ(reader.inexact(Inexact::implausible_size), 5u);
    EXPECT_EQ(all_inexact(reader), 5u);
    EXPECT_THAT(differences(reader, {}), IsEmpty());
}

TRACKED_TEST(Allocate, AWrongSetIsRefusedAndCounted) {
    const ttmem_set set = make_set();
    const ttmem_set closed = make_set(1);
    ttmem_close_set(closed);
    for (const ttmem_set wrong :
         {ttmem_set{0}, set + 1, set ^ 0x100, set | 0xff, closed, ttmem_set{UINT32_MAX}}) {
        EXPECT_EQ(ttmem_allocate(wrong, TTMEM_DRAM, 0, 1, 1, 0), 0u) << wrong;
    }
    const segment::Reader reader = own_reader();
    EXPECT_EQ(reader.inexact(Inexact::unknown_set), 6u);
    EXPECT_THAT(differences(reader, {}), IsEmpty());
}

TRACKED_TEST(Allocate, AWrongKindIsRefusedAndCounted) {
    const ttmem_set set = make_set();
    const uint32_t wrong[] = {
        TTMEM_CB,  TTMEM_KERNEL_APPLICATION, TTMEM_KERNEL_DISPATCH, 9, 255, 0x400, 0x10000, TTMEM_L1 | 0x800,
        UINT32_MAX};
    for (const uint32_t kind : wrong) {
        EXPECT_EQ(ttmem_allocate(set, kind, 0, 1, 1, 0), 0u) << kind;
    }
    const segment::Reader reader = own_reader();
    EXPECT_EQ(reader.inexact(Inexact::unknown_kind), std::size(wrong));
    EXPECT_THAT(differences(reader, {}), IsEmpty());
}

TRACKED_TEST(Free, ASecondOneIsCountedAndTakesNothing) {
    const ttmem_set set = make_set();
    const ttmem_handle handle = ttmem_allocate(set, TTMEM_DRAM, 1, 10, 32, 1);
    ttmem_free(handle);
    ttmem_free(handle);
    const ttmem_handle next = ttmem_allocate(set, TTMEM_DRAM, 2, 20, 64, 2);
    ttmem_free(handle);  // its slot is another's now
    const segment::Reader reader = own_reader();
    EXPECT_THAT(differences(reader, {live_of(set, AllocationKind::dram, 2, 20, 64, 2)}), IsEmpty());
    EXPECT_EQ(reader.inexact(Inexact::double_free), 2u);
    EXPECT_EQ(reader.inexact(Inexact::unknown_free), 0u);
    ttmem_free(next);
    EXPECT_THAT(differences(reader, {}), IsEmpty());
}

TRACKED_TEST(Free, OfWhatNeverWasIsCountedAndNamed) {
    const ttmem_set set = make_set();
    const ttmem_handle handle = ttmem_allocate(set, TTMEM_DRAM, 1, 10, 32, 1);
    const ttmem_handle next_generation = handle ^ 2;
    const ttmem_handle even_generation = handle ^ 1;
    const ttmem_handle far_slot = handle ^ uint64_t { 0xabcdef } << 40;
    for (const ttmem_handle never : {next_generation, even_generation, far_slot}) {
        ttmem_free(never);
    }
    const segment::Reader reader = own_reader();
    EXPECT_EQ(reader.inexact(Inexact::unknown_free), 3u);
    EXPECT_EQ(reader.inexact(Inexact::double_free), 0u);
    EXPECT_EQ(reader.failure_count(FailureType::unknown_free), 3u);
    const std::vector<segment::Failure> failures = reader.failures();
    ASSERT_EQ(failures.size(), 3u);
    EXPECT_EQ(failures[0].has_device, 0);
    EXPECT_EQ(failures[0].thread, static_cast<uint32_t>(gettid()));
    EXPECT_THAT(differences(reader, {live_of(set, AllocationKind::dram, 1, 10, 32, 1)}), IsEmpty());
}

TRACKED_TEST(Free, OfNothingDoesNothing) {
    make_set();
    ttmem_free(0);
    EXPECT_EQ(all_inexact(own_reader()), 0u);
}

TRACKED_TEST(Handle, DiffersBetweenAllocationsAlsoInOneSlot) {
    const ttmem_set set = make_set();
    std::vector<ttmem_handle> seen;
    for (int i = 0; i < 100; ++i) {
        const ttmem_handle handle = ttmem_allocate(set, TTMEM_DRAM, 0, 1, 1, 0);
        EXPECT_NE(handle, 0u);
        EXPECT_THAT(seen, testing::Not(testing::Contains(handle)));
        seen.push_back(handle);
        ttmem_free(handle);
    }
    EXPECT_LE(own_reader().slots_used(), 32u) << "the slots are not used again";
}

TRACKED_TEST(Errno, IsLeftAsItWasByEveryCall) {
    const auto expect_kept = [](const char* what, const auto& call) {
        errno = ENOTTY;
        call();
        EXPECT_EQ(errno, ENOTTY) << what;
    };
    ttmem_device device = 0;
    ttmem_set set = 0;
    ttmem_handle handle = 0;
    expect_kept("enabled", [] { ttmem_enabled(); });
    expect_kept("register", [&] { device = make_device(0); });  // makes the segment
    expect_kept("open", [&] { set = ttmem_open_set(&device, 1, "set"); });
    expect_kept("allocate", [&] { handle = ttmem_allocate(set, TTMEM_DRAM, 0, 1, 1, 0); });
    expect_kept("push", [] { ttmem_scope_push("scope"); });
    expect_kept("tag", [&] { ttmem_tag(handle, "tag"); });
    expect_kept("pop", [] { ttmem_scope_pop(); });
    expect_kept("free", [&] { ttmem_free(handle); });
    expect_kept("free again", [&] { ttmem_free(handle); });
    expect_kept("free of nothing", [&] { ttmem_free(handle ^ 2); });
    expect_kept("cb", [&] { ttmem_allocate_cb(set, 1, 2, 3, nullptr, 0); });
    expect_kept("kernel", [&] { ttmem_load_kernel(set, 1, TTMEM_KERNEL_FABRIC, 3); });
    expect_kept("program", [] { ttmem_program_gone(1); });
    expect_kept("failure", [&] {
        ttmem_out_of_memory failure{};
        failure.set = set;
        ttmem_allocation_failed(&failure);
    });
    expect_kept("report", [] { ttmem_report_allocation(7, 1, 0, 5); });
    expect_kept("many", [&] {
        for (int i = 0; i < 10'000; ++i) {  // through several steps of the ledger
            ttmem_allocate(set, TTMEM_DRAM, 0, 1, 1, 0);
        }
    });
    expect_kept("clear", [&] { ttmem_clear_set(set); });
    expect_kept("close", [&] { ttmem_close_set(set); });
}

TRACKED_TEST(Peak, IsTheHighestSumInTheRecordedOrder) {
    const ttmem_set set = make_set();
    std::vector<std::pair<ttmem_handle, uint64_t>> live;
    uint64_t used = 0;
    uint64_t peak = 0;
    uint64_t random = 1;
    const segment::Reader reader = own_reader();
    for (int i = 0; i < 5'000; ++i) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        if ((random >> 40) % 2 == 0 || live.empty()) {
            const uint64_t size = (random >> 33) % 100'000;
            const bool planned = (random >> 60) == 0;
            live.emplace_back(ttmem_allocate(set, TTMEM_L1 | (planned ? TTMEM_PLANNED : 0), 0, 1, size, 0),
                              planned ? 0 : size);
            used += planned ? 0 : size;
            peak = std::max(peak, used);
        } else {
            std::swap(live[(random >> 20) % live.size()], live.back());
            ttmem_free(live.back().first);
            used -= live.back().second;
            live.pop_back();
        }
        ASSERT_EQ(pool(reader, set, AllocationKind::l1).used, used);
        ASSERT_EQ(pool(reader, set, AllocationKind::l1).peak, peak);
    }
}

}  // namespace
