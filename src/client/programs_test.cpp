// SPDX-License-Identifier: Apache-2.0

// Circular buffers and kernels: what they count for, and that they go with their program.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "tests/support/child.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/own_segment.hpp"
#include "ttmem/ttmem.h"

namespace {

using namespace ttmem;
using namespace ttmem::test;
using segment::AllocationKind;
using segment::Inexact;
using testing::IsEmpty;

Live cb_of(ttmem_set set, uint64_t program, uint64_t address, uint64_t size, const ttmem_cores& cores) {
    Live live;
    live.owner = program;
    live.address = address;
    live.requested = size;
    live.reserved = size * count_cores(cores);
    live.set = static_cast<uint8_t>(set & 0xff);
    live.kind = AllocationKind::cb;
    live.cores = mask_of(cores);
    return live;
}

Live kernel_of(ttmem_set set, uint64_t program, AllocationKind kind, uint64_t bytes) {
    Live live;
    live.owner = live.address = program;
    live.requested = live.reserved = bytes;
    live.set = static_cast<uint8_t>(set & 0xff);
    live.kind = kind;
    return live;
}

TRACKED_TEST(CircularBuffer, RequestsItsSizeAndUsesItOnEachCore) {
    const ttmem_set set = make_set();
    const ttmem_cores cores = rectangle(1, 2, 8, 8);
    const ttmem_handle handle = ttmem_allocate_cb(set, 42, 0x18000, 4096, &cores, 0);
    const segment::Reader reader = own_reader();
    EXPECT_THAT(differences(reader, {cb_of(set, 42, 0x18000, 4096, cores)}), IsEmpty());
    EXPECT_EQ(pool(reader, set, AllocationKind::cb).requested, 4096u);
    EXPECT_EQ(pool(reader, set, AllocationKind::cb).used, 4096u * 56);
    ttmem_free(handle);
    EXPECT_THAT(differences(reader, {}), IsEmpty());
    EXPECT_EQ(pool(reader, set, AllocationKind::cb).peak, 4096u * 56);
}

TRACKED_TEST(CircularBuffer, OnEveryCoreAndOnNoneIsKeptAsSaid) {
    const ttmem_set set = make_set();
    const ttmem_cores all = rectangle(0, 0, 15, 15);
    const ttmem_cores none{};
    const ttmem_cores outside = rectangle(20, 20, 30, 30);
    EXPECT_EQ(count_cores(outside), 0u);
    ttmem_allocate_cb(set, 1, 2, 100, &all, 0);
    ttmem_allocate_cb(set, 1, 3, 100, &none, 0);
    EXPECT_THAT(differences(own_reader(), {cb_of(set, 1, 2, 100, all), cb_of(set, 1, 3, 100, none)}),
                IsEmpty());
}

TRACKED_TEST(CircularBuffer, WithUnknownCoresCountsOneAndIsCountedAsUnknown) {
    const ttmem_set set = make_set();
    ttmem_allocate_cb(set, 1, 2, 100, nullptr, 0);
    Live live = cb_of(set, 1, 2, 100, rectangle(0, 0, 0, 0));
    live.cores.reset();
    live.flags = segment::AllocationFlag::reserved_unknown;
    const segment::Reader reader = own_reader();
    EXPECT_THAT(differences(reader, {live}), IsEmpty());
    EXPECT_EQ(pool(reader, set, AllocationKind::cb).reserved_unknown, 1u);
}

TRACKED_TEST(CircularBuffer, GloballyAllocatedOrPlannedIsListedAndAddsNothing) {
    const ttmem_set set = make_set();
    const ttmem_cores cores = rectangle(0, 0, 1, 1);
    ttmem_allocate_cb(set, 1, 2, 100, &cores, TTMEM_VIEW);
    ttmem_allocate_cb(set, 1, 3, 100, &cores, TTMEM_PLANNED);
    Live global = cb_of(set, 1, 2, 100, cores);
    global.flags = segment::AllocationFlag::view;
    Live planned = cb_of(set, 1, 3, 100, cores);
    planned.flags = segment::AllocationFlag::planned;
    const segment::Reader reader = own_reader();
    EXPECT_THAT(differences(reader, {global, planned}), IsEmpty());
    EXPECT_EQ(pool(reader, set, AllocationKind::cb).used + pool(reader, set, AllocationKind::cb).requested,
              0u);
}

TRACKED_TEST(CircularBuffer, MayBeADataflowBufferOrAScratchpadAndCountsAll) {
    const ttmem_set set = make_set();
    const ttmem_cores cores = rectangle(0, 0, 1, 1);
    ttmem_allocate_cb(set, 1, 2, 100, &cores, TTMEM_DATAFLOW);
    ttmem_allocate_cb(set, 1, 3, 50, &cores, TTMEM_SCRATCHPAD);
    Live dataflow = cb_of(set, 1, 2, 100, cores);
    dataflow.flags = segment::AllocationFlag::dataflow;
    Live scratchpad = cb_of(set, 1, 3, 50, cores);
    scratchpad.flags = segment::AllocationFlag::scratchpad;
    const segment::Reader reader = own_reader();
    EXPECT_THAT(differences(reader, {dataflow, scratchpad}), IsEmpty());
    EXPECT_EQ(pool(reader, set, AllocationKind::cb).used, 600u);
    EXPECT_EQ(ttmem_allocate(set, TTMEM_L1 | TTMEM_DATAFLOW, 1, 2, 3, 4), 0u) << "no buffer is one";
}

TRACKED_TEST(CircularBuffer, WrongFlagsSizesAndSetsAreRefusedAndCounted) {
    const ttmem_set set = make_set();
    const ttmem_cores cores = rectangle(0, 0, 7, 7);
    for (const uint32_t flags : {1u, 2u, 0x400u, TTMEM_VIEW | 3u}) {
        EXPECT_EQ(ttmem_allocate_cb(set, 1, 2, 3, &cores, flags), 0u) << flags;
    }
    EXPECT_EQ(ttmem_allocate_cb(set, 1, 2, UINT64_MAX, &cores, 0), 0u);
    EXPECT_EQ(ttmem_allocate_cb(set, 1, 2, UINT64_MAX / 64 + 1, &cores, 0), 0u) << "64 times that is 0";
    EXPECT_EQ(ttmem_allocate_cb(set, 1, 2, UINT64_MAX, nullptr, 0), 0u);
    EXPECT_EQ(ttmem_allocate_cb(0, 1, 2, 3, &cores, 0), 0u);
    const segment::Reader reader = own_reader();
    EXPECT_EQ(reader.inexact(Inexact::unknown_kind), 4u);
    EXPECT_EQ(reader.inexact(Inexact::implausible_size), 3u);
    EXPECT_EQ(reader.inexact(Inexact::unknown_set), 1u);
    EXPECT_THAT(differences(reader, {}), IsEmpty());
}

TRACKED_TEST(CircularBuffer, SeveralOfOneProgramAtOneAddressAreSeveral) {
    const ttmem_set set = make_set();
    const ttmem_cores cores = rectangle(0, 0, 1, 1);
    const ttmem_handle first = ttmem_allocate_cb(set, 1, 2, 100, &cores, 0);
    const ttmem_handle second = ttmem_allocate_cb(set, 1, 2, 100, &cores, 0);
    EXPECT_NE(first, second);
    const segment::Reader reader = own_reader();
    EXPECT_EQ(pool(reader, set, AllocationKind::cb).count, 2u);
    ttmem_free(first);
    EXPECT_THAT(differences(reader, {cb_of(set, 1, 2, 100, cores)}), IsEmpty());
}

TRACKED_TEST(CoreMask, IsKeptOnceHoweverOftenItIsUsed) {
    const ttmem_set set = make_set();
    const ttmem_cores cores = rectangle(0, 0, 7, 7);
    for (int i = 0; i < 10'000; ++i) {
        ttmem_allocate_cb(set, 1, 2, 3, &cores, 0);
    }
    const segment::Reader reader = own_reader();
    EXPECT_TRUE(reader.cores(1).has_value());
    EXPECT_FALSE(reader.cores(2).has_value());
}

TRACKED_TEST(Kernel, IsCountedOnceForAProgramAndItsTypeHoweverOftenItIsLoaded) {
    const ttmem_set set = make_set();
    const ttmem_handle first = ttmem_load_kernel(set, 7, TTMEM_KERNEL_APPLICATION, 5000);
    EXPECT_NE(first, 0u);
    EXPECT_EQ(ttmem_load_kernel(set, 7, TTMEM_KERNEL_APPLICATION, 5000), first);
    EXPECT_EQ(ttmem_load_kernel(set, 7, TTMEM_KERNEL_APPLICATION, 9999), first)
        << "its size is that of the first time";
    EXPECT_NE(ttmem_load_kernel(set, 7, TTMEM_KERNEL_FABRIC, 100), first);
    EXPECT_NE(ttmem_load_kernel(set, 8, TTMEM_KERNEL_APPLICATION, 200), first);
    EXPECT_NE(ttmem_load_kernel(set, 7, TTMEM_KERNEL_DISPATCH, 300), first);
    const segment::Reader reader = own_reader();
    EXPECT_THAT(differences(reader, {kernel_of(set, 7, AllocationKind::kernel_application, 5000),
                                     kernel_of(set, 7, AllocationKind::kernel_fabric, 100),
                                     kernel_of(set, 8, AllocationKind::kernel_application, 200),
                                     kernel_of(set, 7, AllocationKind::kernel_dispatch, 300)}),
                IsEmpty());
    ttmem_free(first);
    EXPECT_EQ(pool(reader, set, AllocationKind::kernel_application).used, 200u);
    EXPECT_NE(ttmem_load_kernel(set, 7, TTMEM_KERNEL_APPLICATION, 6000), first)
        << "it was gone, and is loaded again";
    EXPECT_EQ(pool(reader, set, AllocationKind::kernel_application).used, 6200u);
}

TRACKED_TEST(Kernel, OnDevicesThatHaveItAlreadyChangesNothing) {
    const ttmem_device devices[] = {make_device(0), make_device(1)};
    const ttmem_set mesh = ttmem_open_set(devices, 2, "mesh");
    const ttmem_set submesh = ttmem_open_set(devices, 1, "submesh");
    const ttmem_handle on_mesh = ttmem_load_kernel(mesh, 7, TTMEM_KERNEL_APPLICATION, 100);
    EXPECT_EQ(ttmem_load_kernel(submesh, 7, TTMEM_KERNEL_APPLICATION, 100), on_mesh);
    EXPECT_EQ(ledger_of(own_reader()).size(), 1u);
}

TRACKED_TEST(Kernel, ThatALaterLaunchLoadsOnMoreDevicesCountsOnceOnEach) {
    const ttmem_device devices[] = {make_device(0), make_device(1), make_device(2), make_device(3)};
    const ttmem_set first = ttmem_open_set(devices, 1, "first");
    const ttmem_set last = ttmem_open_set(devices + 3, 1, "last");
    const ttmem_set middle = ttmem_open_set(devices + 1, 2, "middle");
    const ttmem_set mesh = ttmem_open_set(devices, 4, "mesh");
    const ttmem_handle on_first = ttmem_load_kernel(first, 7, TTMEM_KERNEL_APPLICATION, 100);
    EXPECT_NE(ttmem_load_kernel(mesh, 7, TTMEM_KERNEL_APPLICATION, 100), 0u);
    const segment::Reader reader = own_reader();
    const std::vector<Live> on_parts = {kernel_of(first, 7, AllocationKind::kernel_application, 100),
                                        kernel_of(middle, 7, AllocationKind::kernel_application, 100),
                                        kernel_of(last, 7, AllocationKind::kernel_application, 100)};
    EXPECT_THAT(differences(reader, on_parts), IsEmpty());
    EXPECT_NE(ttmem_load_kernel(mesh, 7, TTMEM_KERNEL_APPLICATION, 100), 0u);
    EXPECT_THAT(differences(reader, on_parts), IsEmpty()) << "all parts together have it";
    ttmem_free(on_first);
    EXPECT_EQ(ledger_of(reader).size(), 2u) << "the first handle is still good";
    ttmem_program_gone(7);
    EXPECT_THAT(differences(reader, {}), IsEmpty());
}

TRACKED_TEST(Kernel, OnMoreDevicesWithoutSetsOfTheirOwnStandsForThoseBefore) {
    const ttmem_device devices[] = {make_device(0), make_device(1), make_device(2)};
    const ttmem_set first = ttmem_open_set(devices, 1, "first");
    const ttmem_set mesh = ttmem_open_set(devices, 3, "mesh");
    ttmem_load_kernel(first, 7, TTMEM_KERNEL_APPLICATION, 100);
    ttmem_load_kernel(first, 8, TTMEM_KERNEL_APPLICATION, 100);
    ttmem_load_kernel(mesh, 7, TTMEM_KERNEL_APPLICATION, 100);
    EXPECT_THAT(differences(own_reader(), {kernel_of(first, 8, AllocationKind::kernel_application, 100),
                                           kernel_of(mesh, 7, AllocationKind::kernel_application, 100)}),
                IsEmpty());
}

// The enumeration has a fixed underlying type, so that any 32-bit value may be converted to it.
static_assert(sizeof(ttmem_kind) == 4);

TRACKED_TEST(Kernel, OfAnotherKindIsRefusedAndCounted) {
    const ttmem_set set = make_set();
    for (const ttmem_kind kind :
         {TTMEM_DRAM, TTMEM_CB, static_cast<ttmem_kind>(9), static_cast<ttmem_kind>(15),
          static_cast<ttmem_kind>(TTMEM_KERNEL_APPLICATION | TTMEM_PLANNED),
          static_cast<ttmem_kind>(UINT32_MAX)}) {
        EXPECT_EQ(ttmem_load_kernel(set, 7, kind, 100), 0u) << kind;
    }
    EXPECT_EQ(own_reader().inexact(Inexact::unknown_kind), 6u);
}

TRACKED_TEST(ProgramGone, EndsItsBuffersAndKernelsInEverySetAndNothingElse) {
    const ttmem_set sets[] = {make_set(0), make_set(1)};
    const ttmem_cores cores = rectangle(0, 0, 3, 3);
    std::vector<Live> others;
    for (const ttmem_set set : sets) {
        for (const uint64_t program : {uint64_t{1}, uint64_t{2}}) {
            ttmem_allocate_cb(set, program, 16 * program, 100, &cores, 0);
            ttmem_allocate_cb(set, program, 16 * program, 50, nullptr, TTMEM_VIEW);
            ttmem_load_kernel(set, program, TTMEM_KERNEL_APPLICATION, 10);
        }
        ttmem_allocate(set, TTMEM_L1, 1, 10, 32, 1);  // a buffer whose owner looks like the program
    }
    ttmem_report_cb_allocation(5, 10, 1);  // reported by address: no program's
    const segment::Reader reader = own_reader();
    for (const Live& live : ledger_of(reader)) {
        if (live.owner != 1 || live.kind == AllocationKind::l1) {
            others.push_back(live);
        }
    }
    EXPECT_EQ(others.size(), 9u);
    ttmem_program_gone(1);
    EXPECT_THAT(differences(reader, others), IsEmpty());
    ttmem_program_gone(1);
    ttmem_program_gone(12345);
    EXPECT_THAT(differences(reader, others), IsEmpty());
    EXPECT_EQ(reader.inexact(Inexact::double_free) + reader.inexact(Inexact::unknown_free), 0u);
}

TRACKED_TEST(ProgramGone, AfterSomeOfItWasFreedOneByOne) {
    const ttmem_set set = make_set();
    std::vector<ttmem_handle> handles;
    for (uint64_t i = 0; i < 10; ++i) {
        handles.push_back(ttmem_allocate_cb(set, 1, i, 100, nullptr, 0));
    }
    for (size_t i = 0; i < handles.size(); i += 3) {  // the first, the last, and two of the middle
        ttmem_free(handles[i]);
    }
    const segment::Reader reader = own_reader();
    EXPECT_EQ(pool(reader, set, AllocationKind::cb).count, 6u);
    ttmem_program_gone(1);
    EXPECT_THAT(differences(reader, {}), IsEmpty());
    for (const ttmem_handle handle : handles) {
        ttmem_free(handle);
    }
    EXPECT_EQ(reader.inexact(Inexact::double_free), 10u);
}

}  // namespace
