// SPDX-License-Identifier: Apache-2.0

// Devices and device sets: registering, opening, clearing, closing, and entries used again.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "tests/support/child.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/own_segment.hpp"
#include "ttmem/ttmem.h"

namespace {

using namespace ttmem;
using namespace ttmem::test;
using segment::AllocationKind;
using segment::Event;
using segment::EventType;
using segment::Inexact;
using testing::IsEmpty;

segment::SetTotals totals_of(const segment::Reader& reader, ttmem_set set) {
    for (const segment::SetTotals& totals : reader.totals().sets) {
        if (totals.index == (set & 0xff)) {
            return totals;
        }
    }
    ADD_FAILURE() << "there is no set " << set;
    return {};
}

TRACKED_TEST(Device, IsKnownWithAllThatWasSaid) {
    ttmem_device_info info{};
    info.asic_id = 0x1234'5678'9abc'def0;
    info.logical_id = 3;
    info.arch = TTMEM_ARCH_BLACKHOLE;
    info.grid_x = 13;
    info.grid_y = 10;
    std::memcpy(info.board, "p150a-not-ended!", sizeof info.board);
    for (uint32_t kind = 0; kind < 5; ++kind) {
        info.memory[kind] = {kind + 1, kind + 2, kind + 3, kind + 4, kind + 5, TTMEM_TOP_DOWN, 0};
    }
    const ttmem_device device = ttmem_register_device(&info);
    ASSERT_NE(device, 0u);
    const auto devices = own_reader().devices();
    ASSERT_EQ(devices.size(), 1u);
    ASSERT_TRUE(devices[0].has_value());
    EXPECT_EQ(std::memcmp(&*devices[0], &info, sizeof info), 0);
}

TRACKED_TEST(Mesh, HasRowsAndColumnsAndItsMembersInOrder) {
    const ttmem_device devices[] = {make_device(0), make_device(1), make_device(2), make_device(3)};
    const ttmem_device members[] = {devices[3], devices[1], devices[0], devices[1], devices[2]};
    const ttmem_set mesh = ttmem_open_set(members, 5, "mesh");
    EXPECT_EQ(totals_of(own_reader(), mesh).set.rows, 0u);
    ttmem_describe_mesh(mesh, 2, 2);
    const segment::DeviceSet set = totals_of(own_reader(), mesh).set;
    EXPECT_EQ(set.rows, 2u);
    EXPECT_EQ(set.columns, 2u);
    EXPECT_EQ(set.members, 15u);
    EXPECT_THAT(std::vector<int>(set.member, set.member + 4), testing::ElementsAre(3, 1, 0, 2));
}

TRACKED_TEST(Mesh, AShapeThatDoesNotFitTheMembersHasNoEffect) {
    const ttmem_device devices[] = {make_device(0), make_device(1)};
    const ttmem_set mesh = ttmem_open_set(devices, 2, "mesh");
    ttmem_describe_mesh(mesh, 2, 1);
    ttmem_describe_mesh(mesh, 2, 2);
    ttmem_describe_mesh(mesh, 0, 0);
    ttmem_describe_mesh(mesh, 1u << 31, 1u << 31);
    const segment::DeviceSet set = totals_of(own_reader(), mesh).set;
    EXPECT_EQ(set.rows, 2u);
    EXPECT_EQ(set.columns, 1u);
    ttmem_describe_mesh(mesh + 1, 1, 2);
    EXPECT_EQ(own_reader().inexact(Inexact::unknown_set), 1u);
}

TRACKED_TEST(Device, IsBroughtUpToDateByItsAsicIdElseByItsNumber) {
    ttmem_device_info info{};
    info.logical_id = 1;
    const ttmem_device by_number = ttmem_register_device(&info);
    info.asic_id = 77;
    EXPECT_EQ(ttmem_register_device(&info), by_number) << "its ASIC id became known";
    info.logical_id = 2;
    EXPECT_EQ(ttmem_register_device(&info), by_number) << "the same chip under another number";
    info.asic_id = 78;
    const ttmem_device other = ttmem_register_device(&info);
    EXPECT_NE(other, by_number) << "another chip under the same number";
    const auto devices = own_reader().devices();
    ASSERT_EQ(devices.size(), 2u);
    EXPECT_EQ(devices[0]->asic_id, 77u);
    EXPECT_EQ(devices[0]->logical_id, 2u);
    EXPECT_EQ(devices[1]->asic_id, 78u);
}

TRACKED_TEST(Device, NullIsNone) {
    EXPECT_EQ(ttmem_register_device(nullptr), 0u);
    EXPECT_NE(make_set(), 0u);
    EXPECT_EQ(own_reader().devices().size(), 1u);
}

TRACKED_TEST(Set, NamesItsMembersAndItsLabel) {
    std::vector<ttmem_device> mesh;
    for (uint32_t i = 0; i < 32; ++i) {
        mesh.push_back(make_device(i));
    }
    const ttmem_set all = ttmem_open_set(mesh.data(), 32, "mesh 8x4");
    const ttmem_set some = ttmem_open_set(mesh.data() + 4, 2, nullptr);
    const segment::Reader reader = own_reader();
    EXPECT_EQ(totals_of(reader, all).set.members, 0xffff'ffffu);
    EXPECT_EQ(reader.name(totals_of(reader, all).set.label), "mesh 8x4");
    EXPECT_EQ(totals_of(reader, some).set.members, 0x30u);
    EXPECT_EQ(reader.name(totals_of(reader, some).set.label), "");
    EXPECT_TRUE(totals_of(reader, all).is_open());
}

TRACKED_TEST(Set, AnAllocationOnAMeshIsOneSlotAndOneEvent) {
    std::vector<ttmem_device> mesh;
    for (uint32_t i = 0; i < 32; ++i) {
        mesh.push_back(make_device(i));
    }
    const ttmem_set set = ttmem_open_set(mesh.data(), 32, "mesh");
    const segment::Reader reader = own_reader();
    const uint64_t before = reader.events_written();
    ttmem_allocate(set, TTMEM_DRAM, 5, 100, 128, 1);
    EXPECT_EQ(reader.events_written(), before + 1);
    EXPECT_EQ(ledger_of(reader).size(), 1u);
    EXPECT_EQ(pool(reader, set, AllocationKind::dram).used, 128u) << "bytes are those of one device";
}

TRACKED_TEST(Set, TwoWithTheSameMembersStayTwo) {
    const ttmem_device device = make_device(0);
    const ttmem_set one = ttmem_open_set(&device, 1, "one");
    const ttmem_set two = ttmem_open_set(&device, 1, "two");
    EXPECT_NE(one, two);
    ttmem_allocate(one, TTMEM_DRAM, 5, 100, 128, 1);
    ttmem_allocate(two, TTMEM_DRAM, 5, 200, 256, 2);
    const segment::Reader reader = own_reader();
    EXPECT_EQ(pool(reader, one, AllocationKind::dram).used, 128u);
    EXPECT_EQ(pool(reader, two, AllocationKind::dram).used, 256u);
}

TRACKED_TEST(Set, UnknownMembersAreCountedAndTheOthersStay) {
    const ttmem_device known = make_device(0);
    const ttmem_device members[] = {known, 0, known + 1, UINT32_MAX};
    const ttmem_set set = ttmem_open_set(members, 4, nullptr);
    EXPECT_NE(set, 0u);
    EXPECT_EQ(ttmem_open_set(members + 1, 3, nullptr), 0u) << "none of them is known";
    EXPECT_EQ(ttmem_open_set(members, 0, nullptr), 0u);
    EXPECT_EQ(ttmem_open_set(nullptr, 1, nullptr), 0u);
    const segment::Reader reader = own_reader();
    EXPECT_EQ(totals_of(reader, set).set.members, 1u);
    EXPECT_EQ(reader.inexact(Inexact::unknown_device), 6u);
    EXPECT_EQ(reader.totals().sets.size(), 1u);
}

// Some of everything, in two sets.
struct TwoSets {
    ttmem_set one = make_set(0);
    ttmem_set two = make_set(1);

    TwoSets() {
        for (const ttmem_set set : {one, two}) {
            ttmem_allocate(set, TTMEM_DRAM, 1, 10, 32, 1);
            ttmem_allocate(set, TTMEM_L1 | TTMEM_PLANNED, 2, 10, 32, 2);
            ttmem_allocate(set, TTMEM_L1 | TTMEM_VIEW, 3, 10, 32, 3);
            ttmem_allocate_cb(set, 5, 4, 10, nullptr, 0);
            ttmem_load_kernel(set, 5 + (set & 0xff), TTMEM_KERNEL_APPLICATION, 10);
        }
    }
};

TRACKED_TEST(ClearSet, EndsAllThatIsInItAndTheSetGoesOn) {
    const TwoSets sets;
    const segment::Reader reader = own_reader();
    std::vector<Live> others = ledger_of(reader);
    EXPECT_EQ(others.size(), 10u);
    std::erase_if(others, [&](const Live& live) { return live.set == (sets.one & 0xff); });
    const uint64_t before = reader.events_written();
    ttmem_clear_set(sets.one);
    EXPECT_THAT(differences(reader, others), IsEmpty());
    EXPECT_EQ(others.size(), 5u);
    EXPECT_EQ(reader.events_written(), before + 5) << "one free for each";
    EXPECT_TRUE(totals_of(reader, sets.one).is_open());
    EXPECT_NE(ttmem_allocate(sets.one, TTMEM_DRAM, 1, 10, 32, 1), 0u);
    EXPECT_EQ(pool(reader, sets.one, AllocationKind::dram).peak, 32u);
}

TRACKED_TEST(CloseSet, EndsAllThatIsInItAndTheSetAndKeepsItsPeaks) {
    const TwoSets sets;
    const segment::Reader reader = own_reader();
    std::vector<Live> others = ledger_of(reader);
    std::erase_if(others, [&](const Live& live) { return live.set == (sets.one & 0xff); });
    ttmem_close_set(sets.one);
    EXPECT_THAT(differences(reader, others), IsEmpty());
    EXPECT_FALSE(totals_of(reader, sets.one).is_open());
    EXPECT_EQ(pool(reader, sets.one, AllocationKind::dram).peak, 32u);
    EXPECT_TRUE(totals_of(reader, sets.two).is_open());
    EXPECT_EQ(ttmem_allocate(sets.one, TTMEM_DRAM, 1, 10, 32, 1), 0u);
    // Programs of the closed set are forgotten, those of the other are not.
    ttmem_program_gone(5);
    std::erase_if(others, [](const Live& live) { return live.kind == AllocationKind::cb; });
    EXPECT_THAT(differences(reader, others), IsEmpty());
}

TRACKED_TEST(CloseSet, OfWhatIsNotOpenIsCounted) {
    const ttmem_set set = make_set();
    ttmem_close_set(set);
    ttmem_close_set(set);
    ttmem_clear_set(set);
    ttmem_close_set(set ^ 0x300);
    ttmem_close_set(0);  // the set that could not be opened
    ttmem_clear_set(0);
    const segment::Reader reader = own_reader();
    EXPECT_EQ(reader.inexact(Inexact::unknown_set), 3u);
}

TRACKED_TEST(CloseSet, AHandleOfItIsFreedAlready) {
    const ttmem_set set = make_set();
    const ttmem_handle handle = ttmem_allocate(set, TTMEM_DRAM, 1, 10, 32, 1);
    ttmem_close_set(set);
    ttmem_free(handle);
    const segment::Reader reader = own_reader();
    EXPECT_EQ(reader.inexact(Inexact::double_free), 1u);
    EXPECT_THAT(differences(reader, {}), IsEmpty());
}

TRACKED_TEST(StopReporting, MakesTheFiguresInexactWhereThereAreSome) {
    ttmem_stop_reporting();
    EXPECT_EQ(ttmem_is_reporting(), 0);
    make_set();
    ttmem_stop_reporting();
    EXPECT_EQ(own_reader().inexact(Inexact::stopped), 1u);
}

TRACKED_TEST(Set, OpeningAndClosingAreEventsInTheRing) {
    const ttmem_set set = make_set();
    ttmem_close_set(set);
    const segment::Reader reader = own_reader();
    segment::Cursor cursor;
    std::vector<Event> events;
    reader.follow(cursor, [&](uint32_t, const Event& event) { events.push_back(event); });
    ASSERT_EQ(events.size(), 2u);
    EXPECT_EQ(events[0].type, EventType::open_set);
    EXPECT_EQ(events[1].type, EventType::close_set);
    EXPECT_EQ(events[1].set, set & 0xff);
}

// A device that is opened and closed all day: entries are used again, the one closed longest ago first.
TRACKED_TEST(Set, EntriesAreUsedAgainOldestFirstWithPeaksFromZero) {
    const ttmem_device device = make_device(0);
    std::vector<ttmem_set> sets;
    for (uint32_t i = 0; i < segment::kMaxSets; ++i) {
        sets.push_back(ttmem_open_set(&device, 1, nullptr));
        ttmem_allocate(sets.back(), TTMEM_DRAM, 0, 1, 1000 + i, 0);
    }
    const segment::Reader reader = own_reader();
    const uint32_t order[] = {100, 3, 77, 0, 127};
    for (const uint32_t i : order) {
        ttmem_close_set(sets[i]);
        EXPECT_EQ(pool(reader, sets[i], AllocationKind::dram).peak, 1000u + i);
    }
    for (const uint32_t i : order) {
        const ttmem_set again = ttmem_open_set(&device, 1, nullptr);
        EXPECT_EQ(again & 0xff, i);
        EXPECT_NE(again, sets[i]) << "the old name must not fit the new set";
        EXPECT_EQ(pool(reader, again, AllocationKind::dram), segment::PoolTotals{});
        EXPECT_EQ(ttmem_allocate(sets[i], TTMEM_DRAM, 0, 1, 1, 0), 0u);
    }
    EXPECT_EQ(ttmem_open_set(&device, 1, nullptr), 0u);
    EXPECT_EQ(reader.inexact(Inexact::sets_full), 1u);
    EXPECT_EQ(ledger_of(reader).size(), segment::kMaxSets - std::size(order));
}

TRACKED_TEST(Set, OpenedAndClosedAHundredThousandTimesLeavesNothing) {
    const ttmem_device device = make_device(0);
    const ttmem_set constant = ttmem_open_set(&device, 1, "constant");
    ttmem_allocate(constant, TTMEM_DRAM, 7, 70, 96, 7);
    const std::vector<Live> kept = ledger_of(own_reader());
    for (uint64_t i = 0; i < 100'000; ++i) {
        const ttmem_set set = ttmem_open_set(&device, 1, "reopened");
        ASSERT_NE(set, 0u);
        for (uint64_t n = 0; n < i % 4; ++n) {
            ttmem_allocate(set, TTMEM_L1, n, 10 + i, 10 + i, n);
        }
        if (i % 5000 == 0) {
            const segment::Reader reader = own_reader();
            ASSERT_EQ(pool(reader, set, AllocationKind::l1).peak, (10 + i) * (i % 4));
        }
        ttmem_close_set(set);
    }
    const segment::Reader reader = own_reader();
    EXPECT_THAT(differences(reader, kept), IsEmpty());
    EXPECT_LE(reader.slots_used(), 64u);
    EXPECT_EQ(reader.totals().sets.size(), segment::kMaxSets);
    for (uint32_t what = 0; what < segment::kInexactCounters; ++what) {
        EXPECT_EQ(reader.inexact(static_cast<Inexact>(what)), 0u)
            << segment::reason(static_cast<Inexact>(what));
    }
    // Two names, "constant" and "reopened", and not one for each.
    EXPECT_EQ(reader.name(3), "");
}

}  // namespace
