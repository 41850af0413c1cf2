// SPDX-License-Identifier: Apache-2.0

// The calls of tt::tt_metal::AllocationClient, rule by rule; tests/properties has the random sequences.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "tests/support/child.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/own_segment.hpp"
#include "ttmem/allocation_client.hpp"

namespace {

using namespace ttmem;
using namespace ttmem::test;
using segment::AllocationKind;
using segment::FailureType;
using segment::Inexact;
using testing::IsEmpty;
using Client = tt::tt_metal::AllocationClient;

constexpr uint8_t kDram = 0;
constexpr uint8_t kL1 = 1;

// The sum over all sets of a kind on one device.
segment::PoolTotals on_device(int device, AllocationKind kind) {
    const segment::Reader reader = own_reader();
    const auto devices = reader.devices();
    segment::PoolTotals sum;
    for (const segment::SetTotals& set : reader.totals().sets) {
        for (size_t i = 0; i < devices.size(); ++i) {
            if ((set.set.members >> i & 1) != 0 && devices[i]->logical_id == static_cast<uint32_t>(device)) {
                const segment::PoolTotals& pool = set.pools[static_cast<size_t>(kind)];
                sum.used += pool.used;
                sum.requested += pool.requested;
                sum.count += pool.count;
                sum.planned += pool.planned;
                sum.reserved_unknown += pool.reserved_unknown;
            }
        }
    }
    return sum;
}

uint64_t inexact(Inexact what) { return own_reader().inexact(what); }

TRACKED_TEST(AllocationClient, ABufferIsOnItsDeviceWithItsRequestedSize) {
    Client::report_allocation(3, 4096, kDram, 0x1000);
    Client::report_allocation(4, 2048, kL1, 0x1000);
    EXPECT_EQ(on_device(3, AllocationKind::dram).requested, 4096u);
    EXPECT_EQ(on_device(3, AllocationKind::dram).used, 4096u);
    EXPECT_EQ(on_device(3, AllocationKind::dram).reserved_unknown, 1u)
        << "what the allocator reserved is not known";
    EXPECT_EQ(on_device(3, AllocationKind::l1).count, 0u);
    EXPECT_EQ(on_device(4, AllocationKind::l1).requested, 2048u);
    Client::report_deallocation(3, 0x1000);
    EXPECT_EQ(on_device(3, AllocationKind::dram).count, 0u);
    EXPECT_EQ(on_device(4, AllocationKind::l1).count, 1u);
    EXPECT_EQ(own_reader().devices().size(), 2u);
}

TRACKED_TEST(AllocationClient, UsesTheDeviceThatIsKnownByThatNumber) {
    make_device(3);
    Client::report_allocation(3, 4096, kDram, 0x1000);
    const auto devices = own_reader().devices();
    ASSERT_EQ(devices.size(), 1u);
    EXPECT_EQ(devices[0]->asic_id, 0x1003u);
}

TRACKED_TEST(AllocationClient, EveryBufferTypeIsItsKindAndAnyOtherIsRefused) {
    for (uint8_t type = 0; type < 5; ++type) {
        Client::report_allocation(0, 100u + type, type, 0x1000u + type);
        EXPECT_EQ(on_device(0, static_cast<AllocationKind>(type)).requested, 100u + type);
    }
    Client::report_allocation(0, 100, 5, 0x2000);
    Client::report_allocation(0, 100, 255, 0x2000);
    EXPECT_EQ(inexact(Inexact::unknown_kind), 2u);
    EXPECT_EQ(ledger_of(own_reader()).size(), 5u);
}

TRACKED_TEST(AllocationClient, ARepeatedBufferAddsAReferenceAndNoBytes) {
    for (int i = 0; i < 3; ++i) {
        Client::report_allocation(0, 4096, kDram, 0x1000);
        EXPECT_EQ(on_device(0, AllocationKind::dram).requested, 4096u);
        EXPECT_EQ(on_device(0, AllocationKind::dram).count, 1u);
    }
    for (int i = 0; i < 2; ++i) {
        Client::report_deallocation(0, 0x1000);
        EXPECT_EQ(on_device(0, AllocationKind::dram).count, 1u);
    }
    Client::report_deallocation(0, 0x1000);
    EXPECT_EQ(on_device(0, AllocationKind::dram).count, 0u);
    EXPECT_EQ(inexact(Inexact::unknown_free), 0u);
    Client::report_deallocation(0, 0x1000);
    EXPECT_EQ(inexact(Inexact::unknown_free), 1u);
}

TRACKED_TEST(AllocationClient, AnAddressThatIsUsedAgainStartsAfresh) {
    Client::report_allocation(0, 4096, kDram, 0x1000);
    Client::report_allocation(0, 4096, kDram, 0x1000);
    Client::report_deallocation(0, 0x1000);
    Client::report_deallocation(0, 0x1000);
    Client::report_allocation(0, 512, kDram, 0x1000);
    EXPECT_EQ(on_device(0, AllocationKind::dram).requested, 512u);
    Client::report_deallocation(0, 0x1000);
    EXPECT_EQ(on_device(0, AllocationKind::dram).count, 0u);
}

TRACKED_TEST(AllocationClient, OfTwoKindsAtOneAddressAFreeTakesTheNewerAndIsCountedAsAmbiguous) {
    Client::report_allocation(0, 100, kDram, 0x1000);
    Client::report_allocation(0, 200, kL1, 0x1000);
    Client::report_deallocation(0, 0x1000);
    EXPECT_EQ(on_device(0, AllocationKind::dram).count, 1u);
    EXPECT_EQ(on_device(0, AllocationKind::l1).count, 0u);
    EXPECT_EQ(inexact(Inexact::ambiguous_free), 1u);
    Client::report_deallocation(0, 0x1000);
    EXPECT_EQ(on_device(0, AllocationKind::dram).count, 0u);
    EXPECT_EQ(inexact(Inexact::ambiguous_free), 1u) << "then there was only one";
}

TRACKED_TEST(AllocationClient, AnUnknownFreeIsCountedAndNamedAndSubtractsNothing) {
    Client::report_allocation(0, 100, kDram, 0x1000);
    Client::report_deallocation(0, 0x2000);
    Client::report_deallocation(1, 0x1000);
    Client::report_deallocation(-1, 0x1000);
    Client::report_deallocation(0x3000);
    const segment::Reader reader = own_reader();
    EXPECT_EQ(on_device(0, AllocationKind::dram).count, 1u);
    EXPECT_EQ(inexact(Inexact::unknown_free), 4u);
    EXPECT_EQ(reader.failure_count(FailureType::unknown_free), 4u);
    const std::vector<segment::Failure> failures = reader.failures();
    ASSERT_EQ(failures.size(), 4u);
    EXPECT_EQ(failures[0].address, 0x2000u);
    EXPECT_EQ(failures[0].has_device, 1);
    EXPECT_EQ(failures[0].device, 0);
    EXPECT_EQ(failures[1].device, 1);
    EXPECT_EQ(failures[2].device, -1);
    EXPECT_EQ(failures[3].address, 0x3000u);
    EXPECT_EQ(failures[3].has_device, 0);
}

TRACKED_TEST(AllocationClient, AFreeWithoutADeviceTakesTheNewestAnywhere) {
    Client::report_allocation(0, 100, kDram, 0x1000);
    Client::report_allocation(2, 300, kL1, 0x1000);
    Client::report_allocation(1, 200, kDram, 0x1000);
    Client::report_deallocation(0x1000);
    EXPECT_EQ(on_device(1, AllocationKind::dram).count, 0u);
    Client::report_deallocation(0x1000);
    EXPECT_EQ(on_device(2, AllocationKind::l1).count, 0u);
    EXPECT_EQ(inexact(Inexact::ambiguous_free), 2u);
    Client::report_deallocation(0x1000);
    EXPECT_EQ(on_device(0, AllocationKind::dram).count, 0u);
    EXPECT_EQ(inexact(Inexact::ambiguous_free), 2u);
    EXPECT_THAT(differences(own_reader(), {}), IsEmpty());
}

TRACKED_TEST(AllocationClient, AFreeThatIsAmbiguousInTwoWaysIsCountedOnce) {
    Client::report_allocation(0, 100, kDram, 0x1000);
    Client::report_allocation(1, 100, kDram, 0x1000);
    Client::report_allocation(1, 200, kL1, 0x1000);
    Client::report_deallocation(0x1000);
    EXPECT_EQ(inexact(Inexact::ambiguous_free), 1u);
}

TRACKED_TEST(AllocationClient, AddressZeroIsPlannedEachTimeAndAddsNothing) {
    Client::report_allocation(0, 4096, kDram, 0);
    Client::report_allocation(0, 4096, kDram, 0);
    EXPECT_EQ(on_device(0, AllocationKind::dram).planned, 2u);
    EXPECT_EQ(on_device(0, AllocationKind::dram).used + on_device(0, AllocationKind::dram).requested +
                  on_device(0, AllocationKind::dram).count,
              0u);
    Client::report_deallocation(0, 0);
    EXPECT_EQ(on_device(0, AllocationKind::dram).planned, 1u);
    Client::report_deallocation(0, 0);
    EXPECT_EQ(on_device(0, AllocationKind::dram).planned, 0u);
    EXPECT_EQ(inexact(Inexact::unknown_free), 0u);
    Client::report_deallocation(0, 0);
    EXPECT_EQ(inexact(Inexact::unknown_free), 1u);
}

TRACKED_TEST(AllocationClient, CircularBuffersAreAMultisetOfDeviceAddressAndSize) {
    Client::report_cb_allocation(0, 100, 0x1000);
    Client::report_cb_allocation(0, 100, 0x1000);
    Client::report_cb_allocation(0, 200, 0x1000);
    Client::report_cb_allocation(1, 100, 0x1000);
    EXPECT_EQ(on_device(0, AllocationKind::cb).requested, 400u);
    EXPECT_EQ(on_device(0, AllocationKind::cb).count, 3u);
    Client::report_cb_deallocation(0, 100, 0x1000);
    EXPECT_EQ(on_device(0, AllocationKind::cb).requested, 300u);
    Client::report_cb_deallocation(0, 300, 0x1000);
    EXPECT_EQ(on_device(0, AllocationKind::cb).requested, 300u) << "none has that size";
    EXPECT_EQ(inexact(Inexact::unknown_free), 1u);
    Client::report_cb_deallocation(0, 200, 0x1000);
    Client::report_cb_deallocation(0, 100, 0x1000);
    EXPECT_EQ(on_device(0, AllocationKind::cb).count, 0u);
    EXPECT_EQ(on_device(1, AllocationKind::cb).count, 1u);
    EXPECT_EQ(inexact(Inexact::ambiguous_free), 0u);
}

TRACKED_TEST(AllocationClient, AKernelIsLoadedOnceAndGoneWithOneUnload) {
    Client::report_kernel_load(0, 5000, 42);
    Client::report_kernel_load(0, 5000, 42);
    Client::report_kernel_load(0, 9000, 42, 1);
    EXPECT_EQ(on_device(0, AllocationKind::kernel_application).used, 5000u);
    EXPECT_EQ(on_device(0, AllocationKind::kernel_application).reserved_unknown, 0u)
        << "its size is what it takes";
    EXPECT_EQ(on_device(0, AllocationKind::kernel_fabric).used, 0u);
    Client::report_kernel_load(0, 100, 43, 1);
    Client::report_kernel_load(0, 200, 44, 2);
    Client::report_kernel_load(1, 300, 42);
    EXPECT_EQ(on_device(0, AllocationKind::kernel_fabric).used, 100u);
    EXPECT_EQ(on_device(0, AllocationKind::kernel_dispatch).used, 200u);
    EXPECT_EQ(on_device(1, AllocationKind::kernel_application).used, 300u);
    Client::report_kernel_unload(0, 5000, 42);
    EXPECT_EQ(on_device(0, AllocationKind::kernel_application).used, 0u);
    EXPECT_EQ(on_device(1, AllocationKind::kernel_application).used, 300u);
    Client::report_kernel_unload(0, 5000, 42);
    EXPECT_EQ(inexact(Inexact::unknown_free), 1u);
    Client::report_kernel_load(0, 1, 45, 3);
    EXPECT_EQ(inexact(Inexact::unknown_kind), 1u);
}

TRACKED_TEST(AllocationClient, BuffersCircularBuffersAndKernelsWithOneNumberAreApart) {
    Client::report_allocation(0, 100, kDram, 7);
    Client::report_cb_allocation(0, 200, 7);
    Client::report_kernel_load(0, 300, 7);
    Client::report_deallocation(0, 7);
    Client::report_deallocation(0, 7);
    EXPECT_EQ(inexact(Inexact::unknown_free), 1u);
    EXPECT_EQ(on_device(0, AllocationKind::cb).count + on_device(0, AllocationKind::kernel_application).count,
              2u);
    Client::report_kernel_unload(0, 300, 7);
    Client::report_cb_deallocation(0, 200, 7);
    EXPECT_THAT(differences(own_reader(), {}), IsEmpty());
    EXPECT_EQ(inexact(Inexact::ambiguous_free), 0u);
}

TRACKED_TEST(AllocationClient, ANegativeDeviceIsRefusedAndCounted) {
    Client::report_allocation(-1, 100, kDram, 7);
    EXPECT_EQ(inexact(Inexact::unknown_device), 1u);
    EXPECT_THAT(differences(own_reader(), {}), IsEmpty());
}

TRACKED_TEST(AllocationClient, AnImplausibleSizeIsRefusedAndCounted) {
    Client::report_allocation(0, UINT64_MAX, kDram, 7);
    Client::report_cb_allocation(0, UINT64_MAX, 7);
    Client::report_kernel_load(0, UINT64_MAX, 7);
    EXPECT_EQ(inexact(Inexact::implausible_size), 3u);
    EXPECT_THAT(differences(own_reader(), {}), IsEmpty());
}

TRACKED_TEST(AllocationClient, ScopesNameItsBuffersToo) {
    ttmem_scope_push("ttnn::add");
    Client::report_allocation(0, 100, kDram, 7);
    ttmem_scope_pop();
    const std::vector<Live> ledger = ledger_of(own_reader());
    ASSERT_EQ(ledger.size(), 1u);
    EXPECT_EQ(ledger[0].name, "ttnn::add");
    EXPECT_EQ(ledger[0].address, 7u);
    EXPECT_EQ(ledger[0].flags, segment::AllocationFlag::keyed | segment::AllocationFlag::reserved_unknown);
}

TRACKED_TEST(AllocationClient, TenThousandBuffersAreAllFoundAgain) {
    constexpr uint64_t kMany = 10'000;
    for (uint64_t i = 1; i <= kMany; ++i) {
        Client::report_allocation(static_cast<int>(i % 8), i, kDram, i * 32);
    }
    EXPECT_EQ(ledger_of(own_reader()).size(), kMany);
    for (uint64_t i = 1; i <= kMany; ++i) {
        const uint64_t n = i * 7919 % kMany + 1;  // in another order
        Client::report_deallocation(static_cast<int>(n % 8), n * 32);
    }
    EXPECT_THAT(differences(own_reader(), {}), IsEmpty());
    EXPECT_EQ(inexact(Inexact::unknown_free), 0u);
}

}  // namespace
