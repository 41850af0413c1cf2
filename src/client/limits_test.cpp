// SPDX-License-Identifier: Apache-2.0

// Everything has a limit, and hitting one is counted exactly; what is within the limits stays exact.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
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

// Only this counter has been raised, and so often.
void expect_only(const segment::Reader& reader, Inexact what, uint64_t times) {
    for (uint32_t i = 0; i < segment::kInexactCounters; ++i) {
        const auto each = static_cast<Inexact>(i);
        EXPECT_EQ(reader.inexact(each), each == what ? times : 0) << segment::reason(each);
    }
}

TRACKED_TEST(Limit, AFullLedgerRefusesAndCountsAndTheRestIsExact) {
    set_environment("TTMEM_SLOTS", "32");
    const ttmem_set set = make_set();
    std::vector<Live> expected;
    std::vector<ttmem_handle> handles;
    for (uint64_t i = 0; i < 50; ++i) {
        handles.push_back(allocate_dram(set, i));
        EXPECT_EQ(handles.back() != 0, i < 32);
        if (i < 32) {
            expected.push_back(live_dram(set, i));
        }
    }
    const segment::Reader reader = own_reader();
    EXPECT_THAT(differences(reader, expected), IsEmpty());
    expect_only(reader, Inexact::ledger_full, 18);
    for (const ttmem_handle handle : handles) {
        ttmem_free(handle);  // also of those that were refused
    }
    EXPECT_THAT(differences(reader, {}), IsEmpty());
    EXPECT_NE(allocate_dram(set, 7), 0u) << "there is room again";
    EXPECT_THAT(differences(reader, {live_dram(set, 7)}), IsEmpty());
    expect_only(reader, Inexact::ledger_full, 18);
}

TRACKED_TEST(Limit, AFullLedgerRefusesCircularBuffersKernelsAndKeyedReportsToo) {
    set_environment("TTMEM_SLOTS", "33");
    const ttmem_set set = make_set();
    for (uint64_t i = 0; i < 33; ++i) {
        EXPECT_NE(allocate_dram(set, i), 0u);
    }
    EXPECT_EQ(ttmem_allocate_cb(set, 1, 2, 3, nullptr, 0), 0u);
    EXPECT_EQ(ttmem_load_kernel(set, 1, TTMEM_KERNEL_FABRIC, 3), 0u);
    ttmem_report_allocation(0, 1, 0, 2);
    ttmem_report_cb_allocation(0, 1, 2);
    const segment::Reader reader = own_reader();
    expect_only(reader, Inexact::ledger_full, 4);
    ttmem_program_gone(1);
    EXPECT_EQ(ledger_of(reader).size(), 33u);
}

TRACKED_TEST(Limit, SetsBeyondTheLimitAreRefusedAndCountedUntilOneIsClosed) {
    const ttmem_device device = make_device(0);
    std::vector<ttmem_set> sets;
    std::vector<Live> expected;
    for (uint64_t i = 0; i < segment::kMaxSets; ++i) {
        sets.push_back(ttmem_open_set(&device, 1, nullptr));
        ASSERT_NE(sets.back(), 0u);
        allocate_dram(sets.back(), i);
        expected.push_back(live_dram(sets.back(), i));
    }
    for (int i = 0; i < 5; ++i) {
        EXPECT_EQ(ttmem_open_set(&device, 1, "one too many"), 0u);
    }
    const segment::Reader reader = own_reader();
    expect_only(reader, Inexact::sets_full, 5);
    EXPECT_THAT(differences(reader, expected), IsEmpty());
    ttmem_close_set(sets[60]);
    expected.erase(expected.begin() + 60);
    EXPECT_NE(ttmem_open_set(&device, 1, nullptr), 0u);
    EXPECT_THAT(differences(reader, expected), IsEmpty());
    expect_only(reader, Inexact::sets_full, 5);
}

TRACKED_TEST(Limit, DevicesBeyondTheLimitAreRefusedAndCounted) {
    std::vector<ttmem_device> devices;
    for (uint32_t i = 0; i < segment::kMaxDevices; ++i) {
        devices.push_back(make_device(i));
        ASSERT_NE(devices.back(), 0u);
    }
    EXPECT_EQ(make_device(1000), 0u);
    EXPECT_EQ(make_device(1001), 0u);
    EXPECT_EQ(make_device(5), devices[5]) << "one that is known needs no room";
    const segment::Reader reader = own_reader();
    expect_only(reader, Inexact::devices_full, 2);
    const ttmem_set all = ttmem_open_set(devices.data(), segment::kMaxDevices, nullptr);
    ASSERT_NE(all, 0u);
    EXPECT_EQ(reader.totals().sets.at(0).set.members, UINT64_MAX);
    allocate_dram(all, 1);
    EXPECT_THAT(differences(reader, {live_dram(all, 1)}), IsEmpty());
    ttmem_report_allocation(1000, 1, 0, 2);
    expect_only(reader, Inexact::devices_full, 3);
}

TRACKED_TEST(Limit, DeviceNumbersBeyondTheLimitAreRefusedAndCounted) {
    for (int i = 0; i < 70; ++i) {
        ttmem_report_allocation(i, 100, 0, 0x1000);
    }
    const segment::Reader reader = own_reader();
    EXPECT_EQ(ledger_of(reader).size(), segment::kMaxDevices);
    expect_only(reader, Inexact::devices_full, 6);
}

TRACKED_TEST(Limit, NamesBeyondTheLimitAreLeftOutAndCounted) {
    set_environment("TTMEM_NAMES", "2");
    const ttmem_set set = make_set();
    Live named = live_dram(set, 1);
    Live unnamed = live_dram(set, 2);
    Live inside = live_dram(set, 3);
    named.name = inside.name = "fits";
    ttmem_scope_push("fits");
    allocate_dram(set, 1);
    ttmem_scope_push("does not");
    allocate_dram(set, 3);
    ttmem_scope_pop();
    ttmem_scope_pop();
    ttmem_scope_push("neither");
    ttmem_tag(allocate_dram(set, 2), "nor this");
    ttmem_scope_pop();
    const segment::Reader reader = own_reader();
    EXPECT_THAT(differences(reader, {named, unnamed, inside}), IsEmpty());
    expect_only(reader, Inexact::names_full, 3);
}

TRACKED_TEST(Limit, EveryNameOfAFullTableIsStillFound) {
    set_environment("TTMEM_NAMES", "1000");
    make_set();
    for (int i = 0; i < 1200; ++i) {
        ttmem_scope_push(std::to_string(i).c_str());
        ttmem_scope_pop();
    }
    const segment::Reader reader = own_reader();
    expect_only(reader, Inexact::names_full, 201);  // the empty name is one of the thousand
    for (int i = 0; i < 999; ++i) {
        ttmem_scope_push(std::to_string(i).c_str());
        ttmem_scope_pop();
        EXPECT_EQ(reader.name(static_cast<uint64_t>(i) + 1), std::to_string(i));
    }
    expect_only(reader, Inexact::names_full, 201);
}

TRACKED_TEST(Limit, CoreMasksBeyondTheLimitAreLeftOutAndCountedAndBytesStayExact) {
    const ttmem_set set = make_set();
    std::vector<Live> expected;
    for (uint32_t i = 0; i < segment::kMaxCoreSets + 10; ++i) {
        ttmem_cores cores{};
        cores.row[0] = static_cast<uint16_t>(i);
        cores.row[15] = static_cast<uint16_t>(i >> 8 | 1);
        ttmem_allocate_cb(set, 1, i, 10, &cores, 0);
        Live live;
        live.owner = 1;
        live.address = i;
        live.requested = 10;
        live.reserved = 10 * count_cores(cores);
        live.set = static_cast<uint8_t>(set & 0xff);
        live.kind = AllocationKind::cb;
        if (i < segment::kMaxCoreSets - 1) {  // number 0 stands for none
            live.cores = mask_of(cores);
        }
        expected.push_back(live);
    }
    const segment::Reader reader = own_reader();
    EXPECT_THAT(differences(reader, expected), IsEmpty());
    expect_only(reader, Inexact::core_sets_full, 11);
}

TRACKED_TEST(Limit, ValuesOfTheEnvironmentThatMakeNoSenseAreIgnored) {
    for (const char* value : {"", "31", "0", "-1", "x", "32x", "16777217", "99999999999999999999999"}) {
        expect_passes_in_child([&] {
            set_environment("TTMEM_SLOTS", value);
            set_environment("TTMEM_RING_RECORDS", value);
            set_environment("TTMEM_WRITERS", value);
            set_environment("TTMEM_NAMES", value);
            const ttmem_set set = make_set();
            for (uint64_t i = 0; i < 100; ++i) {
                EXPECT_NE(allocate_dram(set, i), 0u) << value;
            }
        });
    }
}

TRACKED_TEST(Limit, ARingIsOfAPowerOfTwo) {
    set_environment("TTMEM_RING_RECORDS", "100");
    make_set();
    EXPECT_EQ(own_reader().ring_capacity(), 64u);
}

TRACKED_TEST(Limit, TheLargestSegmentWorks) {
    set_environment("TTMEM_SLOTS", std::to_string(segment::kMaxSlots));
    set_environment("TTMEM_NAMES", std::to_string(segment::kMaxNames));
    const ttmem_set set = make_set();
    allocate_dram(set, 1);
    EXPECT_THAT(differences(own_reader(), {live_dram(set, 1)}), IsEmpty());
}

}  // namespace
