// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "census/figures.hpp"
#include "census/segment_test_support.hpp"

namespace ttmem::census {
namespace {

using testing::ElementsAre;
using testing::Field;
using testing::IsEmpty;
using testing::SizeIs;

TEST(Figures, OfAnEmptyHostIsEmptyAndExact) {
    Census census;
    EXPECT_EQ(compute_figures(census), Figures{});
}

TEST(Figures, AnAllocationInAMeshCountsOnceOnEachMember) {
    TestSegment segment;
    const uint32_t a = segment.add_device(small_chip(0x20, 4));
    const uint32_t b = segment.add_device(small_chip(0x10, 5));
    segment.add_device(small_chip(0x30, 6));
    const uint8_t mesh = segment.add_set(1u << a | 1u << b);
    segment.add(allocation(mesh, segment::AllocationKind::dram, 0x1000, 390, 400));
    Census census = census_of(segment.process(7));

    const Figures figures = compute_figures(census);
    ASSERT_THAT(figures.devices, SizeIs(3));
    EXPECT_EQ(figures.devices[0].asic_id, 0x20u);
    EXPECT_EQ(figures.devices[1].asic_id, 0x10u);
    for (const size_t position : {0u, 1u}) {
        const MemoryFigures& dram = figures.devices[position].memory[kDram];
        EXPECT_EQ(dram, (MemoryFigures{400, 390, 4000, 400, true, 1, 0, 0, 900}));
    }
    EXPECT_EQ(figures.devices[2].memory[kDram], (MemoryFigures{0, 0, 4000, 0, true, 0, 0, 0, 1000}));
    ASSERT_THAT(figures.processes, SizeIs(1));
    EXPECT_THAT(figures.processes[0].devices,
                ElementsAre(Field(&DeviceHoldings::logical_id, 4), Field(&DeviceHoldings::logical_id, 5)));
    EXPECT_EQ(figures.processes[0].devices[1].memory[kDram], (Holding{400, 390, 1}));
    EXPECT_THAT(figures.inexact, IsEmpty());
}

TEST(Figures, ProcessesThatReportTheSameAsicIdShareADevice) {
    TestSegment first;
    TestSegment second;
    first.add_device(small_chip(0x10, 0));
    first.add(allocation(first.add_set(1), segment::AllocationKind::dram, 0x1000, 40, 40));
    second.add_device(small_chip(0x05, 9));
    second.add_device(small_chip(0x10, 0));
    second.add(allocation(second.add_set(2), segment::AllocationKind::dram, 0x1000, 80, 80));
    Census census = census_of(first.process(7), second.process(8));

    const Figures figures = compute_figures(census);
    ASSERT_THAT(figures.devices, SizeIs(2));
    EXPECT_EQ(figures.devices[0].memory[kDram].used, 120u);
    EXPECT_EQ(figures.devices[0].memory[kDram].peak, 120u);
    EXPECT_FALSE(figures.devices[0].memory[kDram].peak_exact);
    EXPECT_THAT(figures.processes[1].devices, ElementsAre(Field(&DeviceHoldings::id, 0)));
}

TEST(Figures, ADeviceKnownByNumberIsTheOneWithThatId) {
    TestSegment numbered;
    TestSegment named;
    for (const uint32_t number : {1u, 6u}) {
        ttmem_device_info info{};
        info.logical_id = number;
        numbered.add_device(info);
    }
    numbered.add(allocation(numbered.add_set(1), segment::AllocationKind::l1, 0x200, 16, 16,
                            segment::AllocationFlag::reserved_unknown));
    named.add_device(small_chip(0x10, 0));
    named.add_device(small_chip(0x20, 1));
    Census census = census_of(numbered.process(7), named.process(8));

    const Figures figures = compute_figures(census);
    ASSERT_THAT(figures.devices, SizeIs(3));
    EXPECT_EQ(figures.devices[1].asic_id, 0x20u);
    EXPECT_EQ(figures.devices[1].board, "n300");
    EXPECT_EQ(figures.devices[1].memory[kL1].used, 16u);
    EXPECT_EQ(figures.devices[2].id, 6u);
    EXPECT_EQ(figures.devices[2].asic_id, std::nullopt);
    EXPECT_EQ(figures.devices[2].memory[kL1].capacity, std::nullopt);
    EXPECT_EQ(figures.devices[2].memory[kL1].largest_free, std::nullopt);
}

// A process that knows only the number of its device, and holds 16 bytes there.
Process holder_by_number(TestSegment& segment, uint32_t number, uint32_t pid) {
    ttmem_device_info info{};
    info.logical_id = number;
    segment.add_device(info);
    segment.add(allocation(segment.add_set(1), segment::AllocationKind::l1, 0x200, 16, 16));
    return segment.process(pid);
}

TEST(Figures, DeviceZeroOfAnOldClientIsLogicalZeroOfANativeOne) {
    TestSegment old;
    TestSegment native;
    native.add_device(small_chip(0x20, 0));
    native.add_device(small_chip(0x10, 1));
    Census census = census_of(holder_by_number(old, 0, 7), native.process(8));
    const Figures figures = compute_figures(census);
    ASSERT_THAT(figures.devices, SizeIs(2));
    EXPECT_EQ(figures.devices[0].asic_id, 0x20u);
    EXPECT_EQ(figures.devices[0].memory[kL1].used, 16u);
    EXPECT_EQ(figures.devices[1].memory[kL1].used, 0u);
    EXPECT_THAT(figures.inexact, IsEmpty());
}

TEST(Figures, WhereProcessesUseANumberForDifferentDevicesWhoKnowsTheNumberOnlyIsInexact) {
    TestSegment old;
    TestSegment first;
    TestSegment second;
    first.add_device(small_chip(0x20, 0));
    second.add_device(small_chip(0x10, 0));
    Census census = census_of(holder_by_number(old, 0, 7), first.process(8), second.process(9));
    EXPECT_THAT(compute_figures(census).inexact, ElementsAre(Inexactness{7, Reason::ambiguous_number, 1}));

    Driver driver;
    driver.devices.resize(1);
    driver.devices[0].asic_id = 0x20;
    TestSegment third;
    TestSegment other_old;
    third.add_device(small_chip(0x20, 1));
    census = census_of(holder_by_number(other_old, 0, 7), third.process(8));
    census.driver = std::make_shared<Driver>(driver);
    EXPECT_THAT(compute_figures(census).inexact, IsEmpty()) << "nobody else calls a device 0";
    census.processes.push_back(second.process(9));
    EXPECT_THAT(compute_figures(census).inexact, ElementsAre(Inexactness{7, Reason::ambiguous_number, 1}));
}

TEST(Figures, AChipWithoutAsicIdIsNotMergedWithTheOneThatHasItsNumber) {
    TestSegment named;
    TestSegment unnamed;
    named.add_device(small_chip(0x20, 0));
    named.add(allocation(named.add_set(1), segment::AllocationKind::dram, 0x1000, 40, 40));
    unnamed.add_device(small_chip(0, 0));
    unnamed.add(allocation(unnamed.add_set(1), segment::AllocationKind::dram, 0x1000, 80, 80));
    Census census = census_of(named.process(7), unnamed.process(8));
    Figures figures = compute_figures(census);
    ASSERT_THAT(figures.devices, SizeIs(2));
    EXPECT_EQ(figures.devices[0].memory[kDram].used, 40u);
    EXPECT_EQ(figures.devices[1].memory[kDram].used, 80u);
    EXPECT_EQ(figures.devices[1].asic_id, std::nullopt);
    EXPECT_THAT(
        figures.processes[1].devices,
        ElementsAre(testing::AllOf(Field(&DeviceHoldings::id, 1), Field(&DeviceHoldings::logical_id, 0))));

    Driver driver;  // whose device 0 has no ASIC id
    driver.devices.resize(1);
    census.driver = std::make_shared<Driver>(driver);
    figures = compute_figures(census);
    ASSERT_THAT(figures.devices, SizeIs(2));
    EXPECT_EQ(figures.devices[0].memory[kDram].used, 80u);
    EXPECT_EQ(figures.devices[1].asic_id, 0x20u);
    EXPECT_EQ(figures.devices[1].memory[kDram].used, 40u);
}

TEST(Figures, NumbersMayDifferWhereNotEveryProcessCanBeReadUnlessTheDriverOrATableGaveThem) {
    TestSegment segment;
    segment.add_device(small_chip(0x20, 0));
    segment.add_device(small_chip(0x10, 1));
    const auto numbers_that_may_differ = [&](const std::vector<DeviceNumber>& table, bool is_unreadable) {
        Census census = census_of(segment.process(7));
        census.device_ids->restore(table, true);
        if (is_unreadable) {
            census.omissions.push_back({0, Reason::processes_unreadable, "3 processes"});
        }
        uint64_t count = 0;
        for (const Inexactness& one : compute_figures(census).inexact) {
            count += one.reason == Reason::numbers_may_differ ? one.count : 0;
        }
        return count;
    };
    EXPECT_EQ(numbers_that_may_differ({}, false), 0u);
    EXPECT_EQ(numbers_that_may_differ({}, true), 2u);
    EXPECT_EQ(numbers_that_may_differ({{asic_key(0x20), 0, kUser}}, true), 1u);
    EXPECT_EQ(numbers_that_may_differ({{asic_key(0x20), 0, kUser}, {asic_key(0x10), 1, std::nullopt}}, true),
              0u);
}

TEST(Figures, DevicesHaveTheirNumbersInTheOrderOfTheProcessesStart) {
    TestSegment late;
    TestSegment early;
    late.add_device(small_chip(0x10, 0));
    early.add_device(small_chip(0x20, 0));
    Census census = census_of(late.process(7, 200), early.process(8, 100));
    const Figures figures = compute_figures(census);
    ASSERT_THAT(figures.devices, SizeIs(2));
    EXPECT_EQ(figures.devices[0].asic_id, 0x20u);
    EXPECT_EQ(figures.devices[1].asic_id, 0x10u);
}

TEST(Figures, UnknownReservedSizesAreInexactWithTheirNumberAndLeaveFreeBlocksUnknown) {
    TestSegment segment;
    segment.add_device(small_chip(0x10, 0));
    const uint8_t set = segment.add_set(1);
    segment.add(allocation(set, segment::AllocationKind::dram, 0x1000, 40, 40,
                           segment::AllocationFlag::reserved_unknown));
    segment.add(allocation(set, segment::AllocationKind::dram, 0x1100, 40, 40,
                           segment::AllocationFlag::reserved_unknown));
    Census census = census_of(segment.process(7));

    const Figures figures = compute_figures(census);
    EXPECT_THAT(figures.inexact, ElementsAre(Inexactness{7, Reason::reserved_unknown, 2}));
    EXPECT_EQ(figures.devices[0].memory[kDram].used, 80u);
    EXPECT_EQ(figures.devices[0].memory[kDram].largest_free, std::nullopt);
    EXPECT_EQ(figures.devices[0].memory[kL1].largest_free, 500u);
}

TEST(Figures, EveryInexactCounterIsShownWithItsReasonAndNumber) {
    TestSegment segment;
    for (uint32_t i = 0; i < segment::kInexactCounters; ++i) {
        segment.header().inexact[i] = i + 1;
    }
    Census census = census_of(segment.process(7));
    const Figures figures = compute_figures(census);
    ASSERT_THAT(figures.inexact, SizeIs(segment::kInexactCounters));
    for (uint32_t i = 0; i < segment::kInexactCounters; ++i) {
        EXPECT_EQ(figures.inexact[i], (Inexactness{7, reason_of(static_cast<segment::Inexact>(i)), i + 1}));
        EXPECT_EQ(text_of(figures.inexact[i]), segment::reason(static_cast<segment::Inexact>(i)));
    }
}

TEST(Figures, AnEventInFlightIsSettling) {
    TestSegment segment;
    segment.entry<segment::WriterLine>(segment::RegionId::writers, 0).intent = segment::SlotRef{3, 1}.pack();
    Census census = census_of(segment.process(7));
    EXPECT_THAT(compute_figures(census).inexact, ElementsAre(Inexactness{7, Reason::settling, 1}));
}

TEST(Figures, ASkippedProcessMakesTheHostInexact) {
    Census census;
    census.omissions.push_back({9, Reason::segment_skipped, "lacks a seal"});
    const auto inexact = compute_figures(census).inexact;
    EXPECT_THAT(inexact, ElementsAre(Inexactness{9, Reason::segment_skipped, 1, "lacks a seal"}));
    EXPECT_TRUE(inexact[0].is_skipped());
    EXPECT_EQ(text_of(inexact[0]), "segment lacks a seal, skipped");
}

TEST(Figures, AfterADeathTheLedgerDecidesAndThePeakStays) {
    TestSegment segment;
    segment.add_device(small_chip(0x10, 0));
    const uint8_t set = segment.add_set(1);
    segment.add(allocation(set, segment::AllocationKind::dram, 0x1000, 40, 40));
    segment.pool(set, segment::AllocationKind::dram).peak = 90;
    // The process was killed before this allocation was counted.
    segment.add_to_ledger(allocation(set, segment::AllocationKind::dram, 0x1100, 8, 8));
    segment.entry<segment::WriterLine>(segment::RegionId::writers, 0).intent = segment::SlotRef{1, 1}.pack();
    Census census = census_of(segment.process(7, 100, ProcessState::dead));

    const Figures figures = compute_figures(census);
    EXPECT_EQ(figures.devices[0].memory[kDram].used, 48u);
    EXPECT_EQ(figures.devices[0].memory[kDram].count, 2u);
    EXPECT_EQ(figures.devices[0].memory[kDram].peak, 90u);
    EXPECT_EQ(figures.processes[0].state, ProcessState::dead);
    EXPECT_THAT(figures.inexact, IsEmpty());
}

TEST(Figures, AllocationsWithoutBytesAreCountedSeparately) {
    TestSegment segment;
    segment.add_device(small_chip(0x10, 0));
    const uint8_t set = segment.add_set(1);
    segment.add(allocation(set, segment::AllocationKind::dram, 0, 40, 40, segment::AllocationFlag::planned));
    segment.add(allocation(set, segment::AllocationKind::cb, 0x300, 40, 40, segment::AllocationFlag::view));
    segment.add(allocation(set, segment::AllocationKind::system_memory, 0x1000, 40, 40));
    Census census = census_of(segment.process(7));

    const DeviceFigures device = compute_figures(census).devices[0];
    EXPECT_EQ(device.memory[kDram], (MemoryFigures{0, 0, 4000, 0, true, 0, 1, 0, 1000}));
    EXPECT_EQ(device.memory[kCb], (MemoryFigures{0, 0, std::nullopt, 0, true, 0, 0, 1, std::nullopt}));
    EXPECT_EQ(device.l1_worst_core.cb_top, std::nullopt);
}

TEST(Figures, KernelsAreOneKindAndThreeTypes) {
    TestSegment segment;
    segment.add_device(small_chip(0x10, 0));
    const uint8_t set = segment.add_set(1);
    segment.add(allocation(set, segment::AllocationKind::kernel_application, 1, 10, 10));
    segment.add(allocation(set, segment::AllocationKind::kernel_fabric, 2, 20, 20));
    segment.add(allocation(set, segment::AllocationKind::kernel_dispatch, 3, 30, 30));
    Census census = census_of(segment.process(7));

    const DeviceFigures device = compute_figures(census).devices[0];
    EXPECT_EQ(device.memory[kKernel].used, 60u);
    EXPECT_EQ(device.memory[kKernel].count, 3u);
    EXPECT_THAT(device.kernel_by_type, ElementsAre(10, 20, 30));
}

TEST(Figures, TheWorstCoreComesFromCircularBuffersAndL1Buffers) {
    TestSegment segment;
    segment.add_device(small_chip(0x10, 0));
    const uint8_t set = segment.add_set(1);
    segment::CoreMask mask{};
    mask[2] = 0b110;
    segment::Allocation cb = allocation(set, segment::AllocationKind::cb, 0x100, 64, 128);
    cb.core_set = segment.add_cores(mask);
    segment.add(cb);
    segment.add(allocation(set, segment::AllocationKind::l1, 0x2e0, 80, 80));
    Census census = census_of(segment.process(7));

    EXPECT_EQ(compute_figures(census).devices[0].l1_worst_core,
              (WorstCore{Core{1, 2}, 0x140, 0x2e0, 0x2e0 - 0x140, 64 + 10, 500}));
}

TEST(Figures, TheSmallestLargestFreeBlockOfSeveralAddressSpacesIsShown) {
    TestSegment segment;
    segment.add_device(small_chip(0x10, 0));
    const uint8_t mesh = segment.add_set(1);
    const uint8_t submesh = segment.add_set(1);
    segment.add_set(1);  // an empty set does not affect the result
    segment.add(allocation(mesh, segment::AllocationKind::dram, 0x1000, 400, 400));
    segment.add(allocation(submesh, segment::AllocationKind::dram, 0x1000, 800, 800));
    Census census = census_of(segment.process(7));
    EXPECT_EQ(compute_figures(census).devices[0].memory[kDram].largest_free, 800u);
}

TEST(Figures, PeaksOfSetsOneAfterTheOtherAreExactUntilOneIsRecycled) {
    TestSegment segment;
    segment.add_device(small_chip(0x10, 0));
    const uint8_t closed = segment.add_set(1, 10, 20);
    const uint8_t open = segment.add_set(1, 30);
    segment.pool(closed, segment::AllocationKind::dram).peak = 500;
    segment.add(allocation(open, segment::AllocationKind::dram, 0x1000, 40, 40));
    Census census = census_of(segment.process(7));
    EXPECT_EQ(compute_figures(census).devices[0].memory[kDram].peak, 500u);
    EXPECT_TRUE(compute_figures(census).devices[0].memory[kDram].peak_exact);

    segment.add_set(1, 40, 50, 3);
    EXPECT_FALSE(compute_figures(census).devices[0].memory[kDram].peak_exact);
}

// The process keeps the peak of a device over all its sets, also of those that were recycled.
TEST(Figures, ThePeakThatAProcessKeepsForADeviceIsExact) {
    TestSegment segment;
    segment.add_device(small_chip(0x10, 0));
    segment.add_device(small_chip(0x20, 1));
    const uint8_t mesh = segment.add_set(3);
    const uint8_t single = segment.add_set(1, 1, 0, 3);
    segment.add(allocation(mesh, segment::AllocationKind::dram, 0x1000, 40, 40));
    segment.add(allocation(single, segment::AllocationKind::dram, 0x1000, 8, 8));
    Census census = census_of(segment.process(7));
    EXPECT_FALSE(compute_figures(census).devices[0].memory[kDram].peak_exact);

    for (const uint32_t chip : {0u, 1u}) {
        auto& entry = segment.entry<segment::ChipCounters>(segment::RegionId::chips, chip);
        entry.is_kept = 1;
        entry.kind[0].peak = chip == 0 ? 90 : 0;
    }
    const Figures figures = compute_figures(census);
    EXPECT_EQ(figures.devices[0].memory[kDram].peak, 90u);
    EXPECT_TRUE(figures.devices[0].memory[kDram].peak_exact);
    EXPECT_EQ(compute_peak_bounds(census)[0].at_most[kDram], 90u);
    EXPECT_EQ(figures.devices[1].memory[kDram].peak, 40u);  // that of the set that runs
    EXPECT_TRUE(figures.devices[1].memory[kDram].peak_exact);
}

TEST(Figures, AProcessThatIsKnownToHaveEndedAddsToThePeakOnly) {
    TestSegment first;
    TestSegment second;
    for (TestSegment* segment : {&first, &second}) {
        segment->add_device(small_chip(0x10, 0));
        segment->add(allocation(segment->add_set(1), segment::AllocationKind::dram, 0x1000, 40, 40));
    }
    Census census = census_of(first.process(7), second.process(8));
    census.processes[0].lifetime = {1, 2};
    census.processes[1].lifetime = {3, std::nullopt};
    const Figures figures = compute_figures(census);
    EXPECT_EQ(figures.devices[0].memory[kDram].used, 40u);
    EXPECT_EQ(figures.devices[0].memory[kDram].peak, 40u);
    EXPECT_TRUE(figures.devices[0].memory[kDram].peak_exact);
    EXPECT_EQ(figures.processes[0].devices[0].memory[kDram].used, 40u);  // at its end
    EXPECT_EQ(compute_peak_bounds(census)[0].at_most[kDram], 40u);

    census.processes[1].lifetime = {};
    EXPECT_FALSE(compute_figures(census).devices[0].memory[kDram].peak_exact);
    EXPECT_EQ(compute_peak_bounds(census)[0].at_most[kDram], 80u);
}

TEST(Figures, AProcessThatClosedADeviceDoesNotHoldIt) {
    TestSegment segment;
    segment.add_device(small_chip(0x10, 0));
    segment.add_set(1, 10, 20);
    Census census = census_of(segment.process(7));
    EXPECT_THAT(compute_figures(census).processes[0].devices, IsEmpty());
}

TEST(Figures, ALaterProcessDoesNotChangeTheOwnersDescriptionOfADevice) {
    TestSegment owner;
    TestSegment latecomer;
    ttmem_device_info lie = small_chip(0x10, 0);
    lie.memory[TTMEM_DRAM].capacity = 1;
    owner.add_device(small_chip(0x10, 0));
    owner.add_set(1);
    latecomer.add_device(lie);
    latecomer.add_set(1);
    Census census = census_of(latecomer.process(6, 200), owner.process(7, 100));
    EXPECT_EQ(compute_figures(census).devices[0].memory[kDram].capacity, 4000u);
}

TEST(Figures, AProcessWithTheDeviceOpenIsTrustedOverOneThatClosedIt) {
    TestSegment past;
    TestSegment present;
    ttmem_device_info with_l1_small = small_chip(0x10, 0);
    with_l1_small.memory[TTMEM_L1].capacity = 3000;
    past.add_device(small_chip(0x10, 0));
    past.add_set(1, 10, 20);
    present.add_device(with_l1_small);
    present.add_set(1);
    Census census = census_of(past.process(6, 100), present.process(7, 200));
    EXPECT_EQ(compute_figures(census).devices[0].memory[kL1].capacity, 3000u);
}

TEST(Figures, UnreportedCapacityIsUnknownAndBanksOfSizeZeroAreFull) {
    TestSegment segment;
    ttmem_device_info info = small_chip(0x10, 0);
    info.memory[TTMEM_DRAM].capacity = 0;
    info.memory[TTMEM_TRACE] = {0x9000, 0, 0, 4, 32, TTMEM_BOTTOM_UP, 0};
    segment.add_device(info);
    Census census = census_of(segment.process(7));
    const DeviceFigures device = compute_figures(census).devices[0];
    EXPECT_EQ(device.memory[kDram].capacity, 4000u);
    EXPECT_EQ(device.memory[index_of(census::Kind::trace)].capacity, 0u);
    EXPECT_EQ(device.memory[index_of(census::Kind::l1_small)].capacity, std::nullopt);
}

TEST(Figures, HostileFiguresSaturateAndBelowZeroIsShownAsZero) {
    TestSegment one;
    TestSegment two;
    constexpr uint64_t kHuge = std::numeric_limits<int64_t>::max();
    for (TestSegment* segment : {&one, &two}) {
        segment->add_device(small_chip(0x10, 0));
        const uint8_t set = segment->add_set(UINT64_MAX);
        for (const segment::AllocationKind kind :
             {segment::AllocationKind::kernel_application, segment::AllocationKind::kernel_fabric,
              segment::AllocationKind::kernel_dispatch}) {
            segment->pool(set, kind).used = kHuge;
            segment->tally(set, kind).count = kHuge;
        }
        segment->pool(set, segment::AllocationKind::dram).used = static_cast<uint64_t>(-5);
        segment->tally(set, segment::AllocationKind::dram).requested = static_cast<uint64_t>(-5);
    }
    Census census = census_of(one.process(7), two.process(8));
    const Figures figures = compute_figures(census);
    EXPECT_EQ(figures.devices[0].memory[kKernel].used, UINT64_MAX);
    EXPECT_EQ(figures.devices[0].memory[kKernel].count, UINT64_MAX);
    EXPECT_EQ(figures.devices[0].memory[kDram].used, 0u);
    EXPECT_THAT(figures.inexact, ElementsAre(Inexactness{7, Reason::negative_pool, 1},
                                             Inexactness{8, Reason::negative_pool, 1}));
}

TEST(Figures, AMemberListedTwiceCountsOnce) {
    TestSegment segment;
    segment.add_device(small_chip(0x10, 0));
    segment.add_device(small_chip(0x10, 1));
    segment.add(allocation(segment.add_set(3), segment::AllocationKind::dram, 0x1000, 40, 40));
    Census census = census_of(segment.process(7));
    EXPECT_EQ(compute_figures(census).devices[0].memory[kDram].used, 40u);
}

TEST(Figures, TwoSegmentsOfOneProcessAreOneProcess) {
    TestSegment program;
    TestSegment plugin;
    for (TestSegment* segment : {&program, &plugin}) {
        segment->add_device(small_chip(0x10, 0));
        segment->add(allocation(segment->add_set(1), segment::AllocationKind::dram, 0x1000, 40, 40));
    }
    plugin.add_device(small_chip(0x20, 1));
    plugin.add_set(2);
    Census census = census_of(program.process(7), plugin.process(7));
    const Figures figures = compute_figures(census);
    ASSERT_THAT(figures.processes, SizeIs(1));
    ASSERT_THAT(figures.processes[0].devices, SizeIs(2));
    EXPECT_EQ(figures.processes[0].devices[0].memory[kDram], (Holding{80, 80, 2}));
    EXPECT_EQ(figures.processes[0].devices[1].logical_id, 1u);
    EXPECT_EQ(figures.devices[0].memory[kDram].used, 80u);
}

TEST(Figures, ABoardNameCanNotMoveTheCursor) {
    TestSegment segment;
    ttmem_device_info info = small_chip(0x10, 0);
    std::memcpy(info.board, "\x1b[2Jn300 n300 nn", 16);
    segment.add_device(info);
    Census census = census_of(segment.process(7));
    EXPECT_EQ(compute_figures(census).devices[0].board, "?[2Jn300 n300 nn");
}

}  // namespace
}  // namespace ttmem::census
