// SPDX-License-Identifier: Apache-2.0
#include "census/cores.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "census/segment_test_support.hpp"

namespace ttmem::census {
namespace {

using testing::SizeIs;

struct Cores : testing::Test {
    Cores() {
        ttmem_device_info chip = small_chip(0x10, 0);
        chip.grid_x = 3;
        chip.grid_y = 2;
        segment.add_device(chip);
        set = segment.add_set(1);
        l1 = chip.memory[memory_info_index(Kind::l1)];
    }
    void put_cb(uint64_t address, uint64_t size, uint16_t core_set, uint64_t program = 0,
                const char* name = "") {
        segment::Allocation a = allocation(set, segment::AllocationKind::cb, address, size, size);
        a.core_set = core_set;
        a.owner = program;
        a.name = *name == '\0' ? 0 : segment.add_name(name);
        segment.add(a);
    }
    CoreGrid grid() {
        const auto found = map_cores(census_of(segment.process(7)), "0");
        EXPECT_TRUE(found);
        return found.value_or(CoreGrid{});
    }

    TestSegment segment;
    uint8_t set = 0;
    ttmem_memory_info l1{};
};

TEST_F(Cores, AllOfTheGridAreThereAlsoThoseWithoutCircularBuffers) {
    const CoreGrid empty = grid();
    EXPECT_EQ(empty.size, (Core{3, 2}));
    ASSERT_THAT(empty.cores, SizeIs(6));
    EXPECT_EQ(empty.cores[4].core, (Core{1, 1}));
    EXPECT_EQ(empty.cores[4].cb_top, std::nullopt);
    EXPECT_EQ(empty.cores[4].used, 0u);
    EXPECT_EQ(empty.capacity, l1.size_per_bank);
    EXPECT_EQ(empty.cores[4].headroom, static_cast<int64_t>(l1.size_per_bank));
}

TEST_F(Cores, EachHasTheHighestEndOfItsCircularBuffersAndTheHeadroomToTheLowestBuffer) {
    const uint16_t left = segment.add_cores({0b001, 0b001});
    const uint16_t upper = segment.add_cores({0b111});
    put_cb(l1.base, 10, left);
    put_cb(l1.base, 30, upper);
    put_cb(l1.base, 20, left);
    segment.add(allocation(set, segment::AllocationKind::l1, l1.base + 100, l1.banks * 8, l1.banks * 8));
    const CoreGrid all = grid();
    EXPECT_EQ(all.lowest_buffer, l1.base + 100);
    ASSERT_THAT(all.cores, SizeIs(6));
    EXPECT_EQ(all.cores[0].cb_top, l1.base + 30) << "on both sets";
    EXPECT_EQ(all.cores[0].used, 38u);
    EXPECT_EQ(all.cores[0].headroom, 70);
    EXPECT_EQ(all.cores[3].cb_top, l1.base + 20) << "below: on the left set alone";
    EXPECT_EQ(all.cores[3].headroom, 80);
    EXPECT_EQ(all.cores[4].cb_top, std::nullopt);
    EXPECT_EQ(all.cores[4].headroom, 100);
}

TEST_F(Cores, EachNamesTheProgramThatReachesHighest) {
    const uint16_t upper = segment.add_cores({0b111});
    put_cb(l1.base, 10, segment.add_cores({0b001}), 5, "low");
    put_cb(l1.base, 30, upper, 6, "high");
    put_cb(l1.base, 20, upper, 7, "between");
    const CoreGrid all = grid();
    EXPECT_EQ(all.cores[0].pid, 7u);
    EXPECT_EQ(all.cores[0].program, 6u);
    EXPECT_EQ(all.cores[0].name, "high");
    EXPECT_EQ(all.cores[4].pid, std::nullopt) << "no circular buffer";
    EXPECT_EQ(all.cores[4].program, std::nullopt);
}

TEST_F(Cores, TheWorstOfThemIsTheWorstCoreOfTheStatus) {
    put_cb(l1.base, 33, segment.add_cores({0, 0b100}));
    put_cb(l1.base, 11, segment.add_cores({0b1}));
    const WorstCore worst = compute_figures(census_of(segment.process(7))).devices[0].l1_worst_core;
    const CoreGrid all = grid();
    EXPECT_EQ(worst.core, all.cores[5].core);
    EXPECT_EQ(worst.cb_top, all.cores[5].cb_top);
    EXPECT_EQ(worst.used, all.cores[5].used);
    EXPECT_EQ(worst.headroom, all.cores[5].headroom);
}

TEST_F(Cores, BuffersWithoutCoresAreCounted) {
    put_cb(l1.base, 10, 0);
    EXPECT_EQ(grid().without_cores, 1u);
}

TEST_F(Cores, OfADeviceThatIsNotThereAreAnError) {
    EXPECT_FALSE(map_cores(census_of(segment.process(7)), "9"));
}

}  // namespace
}  // namespace ttmem::census
