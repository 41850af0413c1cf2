// SPDX-License-Identifier: Apache-2.0
#include "census/address_map.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

#include "census/segment_test_support.hpp"

namespace ttmem::census {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// On the small chip, DRAM has 4 banks of 1,000 from 0x1000, so a block of 400 takes 100 of each.
struct AddressMaps : testing::Test {
    AddressMaps() {
        ttmem_device_info chip = small_chip(0x10, 0);
        chip.grid_x = 3;
        chip.grid_y = 2;
        segment.add_device(chip);
        set = segment.add_set(1);
    }
    void put(uint64_t address, uint64_t reserved, const char* name = "", Kind kind = Kind::dram) {
        segment::Allocation a =
            allocation(set, kind == Kind::dram ? segment::AllocationKind::dram : segment::AllocationKind::l1,
                       address, reserved, reserved);
        a.name = *name == '\0' ? 0 : segment.add_name(name);
        segment.add(a);
    }
    // On 3 by 2 cores, whose L1 has 500 bytes from 0x100.
    void put_cb(uint64_t address, uint64_t size, const segment::CoreMask& cores, uint64_t program = 1,
                const char* name = "") {
        segment::Allocation a = allocation(set, segment::AllocationKind::cb, address, size, size);
        a.core_set = segment.add_cores(cores);
        a.owner = program;
        a.name = *name == '\0' ? 0 : segment.add_name(name);
        segment.add(a);
    }
    base::Expected<std::vector<AddressMap>> maps(MapQuery query) {
        auto all = map_addresses(census_of(segment.process(7)), query);
        if (!all) {
            return tl::unexpected(all.error());
        }
        return std::move(all->maps);
    }
    AddressMap map(MapQuery query) {
        const auto all = maps(std::move(query));
        EXPECT_TRUE(all);
        return all && !all->empty() ? all->front() : AddressMap{};
    }
    AddressMap l1(std::string core = {}) {
        return map({.device = "0", .kind = Kind::l1, .core = std::move(core)});
    }

    TestSegment segment;
    uint8_t set = 0;
};

MapBlock gap(uint64_t address, uint64_t bytes) {
    MapBlock block;
    block.address = address;
    block.bytes = bytes;
    block.is_free = true;
    return block;
}

MATCHER_P3(Live, address, bytes, name, "") {
    return !arg.is_free && arg.address == address && arg.bytes == bytes && arg.name.value_or("") == name;
}

TEST_F(AddressMaps, ShowLiveBlocksAndTheFreeBlocksBetween) {
    put(0x1000 + 500, 400, "second");
    put(0x1000, 800, "first");
    const AddressMap dram = map({"0"});
    EXPECT_EQ(dram.pid, 7u);
    EXPECT_EQ(dram.kind, Kind::dram);
    EXPECT_EQ(dram.bank, (Bank{0x1000, 1000, 4}));
    EXPECT_THAT(dram.devices, ElementsAre(0));
    EXPECT_THAT(dram.blocks, ElementsAre(Live(0x1000u, 200u, "first"), gap(0x1000 + 200, 300),
                                         Live(0x1000u + 500, 100u, "second"), gap(0x1000 + 600, 400)));
    EXPECT_EQ(dram.used, 300u);
    EXPECT_EQ(dram.free, 700u);
    EXPECT_EQ(dram.largest_free, 400u);
    EXPECT_EQ(dram.blocks[0].used, 800u);
}

TEST_F(AddressMaps, OfAnEmptyPoolIsOneFreeBlock) {
    MapQuery query{"0"};
    query.kind = Kind::l1;
    const AddressMap l1 = map(query);
    EXPECT_THAT(l1.blocks, ElementsAre(gap(0x100, 500)));
    EXPECT_EQ(l1.largest_free, 500u);
}

TEST_F(AddressMaps, AreOnlyOfPoolsInWhichSomethingLiesUnlessAKindIsAskedFor) {
    EXPECT_THAT(*maps({"0"}), IsEmpty());
}

TEST_F(AddressMaps, OfABankThatIsNotKnownHaveNoFreeBlocks) {
    ttmem_device_info nothing_told{};
    nothing_told.asic_id = 0x20;
    segment.add_device(nothing_told);
    set = segment.add_set(2);
    put(64, 400, "somewhere");
    const AddressMap unknown = map({"1"});
    EXPECT_THAT(unknown.blocks, ElementsAre(Live(64u, 400u, "somewhere")));
    EXPECT_EQ(unknown.free, std::nullopt);
    EXPECT_EQ(unknown.largest_free, std::nullopt);
}

TEST_F(AddressMaps, SayNothingAboutFreeSpaceWhereBlocksLieInEachOtherOrOutside) {
    put(0x1000, 800);
    put(0x1000 + 100, 400);
    EXPECT_EQ(map({"0"}).largest_free, std::nullopt);
    EXPECT_THAT(map({"0"}).blocks, SizeIs(2));
}

TEST_F(AddressMaps, AreOnePerAllocatorSinceEachHasAddressesOfItsOwn) {
    put(0x1000, 400);
    set = segment.add_set(1);
    put(0x1000, 800);
    const auto both = maps({"0"});
    ASSERT_THAT(*both, SizeIs(2));
    EXPECT_EQ((*both)[0].largest_free, 900u);
    EXPECT_EQ((*both)[1].largest_free, 800u);
}

TEST_F(AddressMaps, LeaveOutAnAllocatorThatHoldsNothingWhereAnotherDoes) {
    segment.add_set(1);
    put(0x1000, 400);
    MapQuery query{"0"};
    query.kind = Kind::dram;
    EXPECT_EQ(map(query).used, 100u);
    query.kind = Kind::l1;
    EXPECT_THAT(*maps(query), SizeIs(2));
}

TEST_F(AddressMaps, AreCutToALimitAndSayByHowMuch) {
    put(0x1000, 400);
    put(0x1000 + 300, 400);
    MapQuery query{"0"};
    query.limit = 1;
    const AddressMap cut = map(query);
    EXPECT_THAT(cut.blocks, SizeIs(1));
    EXPECT_EQ(cut.left_out, 1u);
    EXPECT_EQ(cut.largest_free, 600u) << "of all that is there";
}

TEST_F(AddressMaps, OfAWindowHaveItsBlocksAndTheFiguresOfTheBank) {
    put(0x1000, 400, "low");
    put(0x1000 + 300, 400, "middle");
    put(0x1000 + 500, 400, "high");
    const AddressMap whole = map({"0"});
    MapQuery query{"0"};
    query.limit = 1;
    query.window = {0x1000 + 320, 0x1000 + 400};
    const AddressMap inside = map(query);
    ASSERT_THAT(inside.blocks, SizeIs(1));
    EXPECT_EQ(inside.blocks[0].name, "middle");
    EXPECT_EQ(inside.left_out, 0u);
    EXPECT_EQ(inside.free, whole.free);
    EXPECT_EQ(inside.largest_free, whole.largest_free);
    EXPECT_EQ(inside.largest_free_address, whole.largest_free_address);
    query.window = {0x1000 + 250, std::nullopt};
    const AddressMap rest = map(query);
    ASSERT_THAT(rest.blocks, SizeIs(2)) << "the gap and the block behind it";
    EXPECT_TRUE(rest.blocks[0].is_free);
    EXPECT_EQ(rest.blocks[1].name, "middle");
    EXPECT_EQ(rest.left_out, 1u) << "of the window";
}

TEST_F(AddressMaps, SayWhereTheLargestGapBeginsAlsoBeyondTheLimit) {
    put(0x1000, 400);
    put(0x1000 + 200, 400);
    MapQuery query{"0"};
    query.limit = 1;
    EXPECT_EQ(map(query).largest_free_address, 0x1000u + 300);
}

TEST_F(AddressMaps, OfSeveralDevicesFollowOneAnother) {
    put(0x1000, 400, "first");
    put_cb(0x100, 50, {0b001});
    segment.add_device(small_chip(0x20, 1));
    set = segment.add_set(2);
    put(0x1000, 800, "second");
    set = segment.add_set(3);
    put(0x1000, 1200, "both");
    const auto all = *maps({"1,0"});
    ASSERT_THAT(all, SizeIs(5));
    const auto one = [&](size_t i) { return std::tuple(all[i].device, all[i].kind, all[i].used); };
    EXPECT_EQ(one(0), std::tuple(0u, Kind::dram, 100u));
    EXPECT_EQ(one(1), std::tuple(0u, Kind::l1, 0u)) << "the circular buffer of the first device";
    EXPECT_EQ(one(2), std::tuple(0u, Kind::dram, 300u));
    EXPECT_EQ(one(3), std::tuple(1u, Kind::dram, 200u));
    EXPECT_EQ(one(4), std::tuple(1u, Kind::dram, 300u)) << "an allocator of both is on each";
    for (const char* device : {"0", "1"}) {
        const auto alone = *maps({device});
        EXPECT_TRUE(std::search(all.begin(), all.end(), alone.begin(), alone.end(),
                                [](const AddressMap& a, const AddressMap& b) {
                                    return a.device == b.device && a.devices == b.devices &&
                                           a.kind == b.kind && a.used == b.used && a.free == b.free;
                                }) != all.end())
            << device;
    }
    EXPECT_THAT(*maps({"0-1"}), SizeIs(all.size()));
    EXPECT_THAT(maps({"0-2"}).error().text, HasSubstr("device 2"));
}

TEST_F(AddressMaps, AreOfSeveralKindsAndOfAnEmptyPoolThatIsAskedFor) {
    put(0x1000, 400);
    KindSet kinds = Kind::dram;
    kinds.add(Kind::l1);
    const auto both = *maps({.device = "0", .kind = kinds});
    ASSERT_THAT(both, SizeIs(2));
    EXPECT_EQ(both[0].kind, Kind::dram);
    EXPECT_EQ(both[1].kind, Kind::l1);
    EXPECT_THAT(both[1].blocks, ElementsAre(gap(0x100, 500)));
    EXPECT_EQ(maps({.device = "0", .kind = kinds, .core = "0,0"}).error().text,
              "dram is not part of a core: a core has l1 and cb");
    kinds.add(Kind::cb);
    EXPECT_THAT(maps({.device = "0", .kind = kinds}).error().text,
                HasSubstr("ask for cb without other kinds"));
}

TEST_F(AddressMaps, AreNotOfKindsWithoutAddresses) {
    MapQuery query{"0"};
    query.kind = Kind::kernel;
    EXPECT_THAT(maps(query).error().text, HasSubstr("kernel has no addresses of its own"));
    EXPECT_THAT(maps({"9"}).error().text, HasSubstr("device 9"));
}

TEST_F(AddressMaps, OfL1HaveWhatCircularBuffersOccupyOnTheFullestCoreAndNeverAsFree) {
    put(0x100 + 400, 800, "buffer", Kind::l1);
    put_cb(0x100, 50, {0b001}, 1, "low");
    put_cb(0x100, 80, {0b010}, 2, "high");
    put_cb(0x100 + 80, 20, {0b010}, 2, "highest");
    const AddressMap map = l1();
    EXPECT_THAT(map.blocks, ElementsAre(Live(0x100u, 100u, "highest"), gap(0x100 + 100, 300),
                                        Live(0x100u + 400, 100u, "buffer")));
    EXPECT_EQ(map.blocks[0].circular_buffers, 2u);
    EXPECT_EQ(map.blocks[0].owner, 2u);
    EXPECT_EQ(map.blocks[0].used, std::nullopt) << "what other cores hold is not in the range";
    EXPECT_EQ(map.used, 100u) << "buffers alone";
    EXPECT_EQ(map.free, 300u);
    EXPECT_EQ(map.largest_free, 300u);
    ASSERT_TRUE(map.core);
    EXPECT_EQ(map.core->core, (Core{1, 0}));
    EXPECT_FALSE(map.core->is_asked);
    EXPECT_EQ(map.core->bytes, 100u);
    EXPECT_EQ(map.core->cb_top, 0x100u + 100);
    EXPECT_EQ(map.core->lowest_buffer, 0x100u + 400);
    EXPECT_EQ(map.core->headroom, 300);
    EXPECT_EQ(map.core->on_other_cores, 1u);
    EXPECT_EQ(map.core->without_cores, 0u);
    EXPECT_THAT(map.core->programs, ElementsAre(CoreProgram{2, "highest", 2, 100, 0x100 + 100}));
}

TEST_F(AddressMaps, OfL1AreOfTheCoreThatIsAskedFor) {
    put_cb(0x100, 50, {0b001}, 1, "low");
    put_cb(0x100, 80, {0b010}, 2, "high");
    const AddressMap low = l1("0,0");
    EXPECT_THAT(low.blocks, ElementsAre(Live(0x100u, 50u, "low"), gap(0x100 + 50, 450)));
    EXPECT_TRUE(low.core->is_asked);
    EXPECT_EQ(low.core->headroom, 450);
    EXPECT_THAT(l1("2,1").blocks, ElementsAre(gap(0x100, 500))) << "a core without circular buffers";
    EXPECT_EQ(l1("2,1").core->cb_top, std::nullopt);
    EXPECT_EQ(map({.device = "0", .core = "1,0"}).core->cb_top, 0x100u + 80) << "a core means L1";
}

TEST_F(AddressMaps, ProgramsThatShareAddressesAreOneRangeAndAreListedByTheirEnds) {
    put_cb(0x100, 50, {0b001}, 1, "first");
    put_cb(0x100, 80, {0b001}, 2, "second");
    put_cb(0x100 + 20, 100, {0b001}, 3, "third");
    put_cb(0x100 + 200, 10, {0b001}, 3, "apart");
    const AddressMap map = l1();
    EXPECT_THAT(map.blocks, ElementsAre(Live(0x100u, 120u, "third"), gap(0x100 + 120, 80),
                                        Live(0x100u + 200, 10u, "apart"), gap(0x100 + 210, 290)));
    EXPECT_EQ(map.blocks[0].circular_buffers, 3u);
    EXPECT_THAT(map.core->programs, ElementsAre(CoreProgram{3, "apart", 2, 110, 0x100 + 210},
                                                CoreProgram{2, "second", 1, 80, 0x100 + 80},
                                                CoreProgram{1, "first", 1, 50, 0x100 + 50}));
}

TEST_F(AddressMaps, AClashLeavesTheBufferWholeAndHasNegativeHeadroom) {
    put(0x100 + 100, 800, "buffer", Kind::l1);
    put_cb(0x100, 250, {0b001}, 1, "cb");
    const AddressMap map = l1();
    EXPECT_THAT(map.blocks, ElementsAre(Live(0x100u, 100u, "cb"), Live(0x100u + 100, 100u, "buffer"),
                                        Live(0x100u + 200, 50u, "cb"), gap(0x100 + 250, 250)));
    EXPECT_EQ(map.core->headroom, -150);
    EXPECT_EQ(map.core->bytes, 150u);
}

TEST_F(AddressMaps, CircularBuffersOnUnknownCoresAreShownOnAnyCoreAndCounted) {
    segment::Allocation a = allocation(set, segment::AllocationKind::cb, 0x100, 60, 60);
    segment.add(a);
    put_cb(0x100, 50, {0b001});
    for (const char* core : {"", "0,0", "2,1"}) {
        const AddressMap map = l1(core);
        EXPECT_EQ(map.blocks[0].bytes, 60u) << core;
        EXPECT_EQ(map.core->without_cores, 1u) << core;
    }
}

TEST_F(AddressMaps, AProcessWithCircularBuffersAloneHasAMapOfL1) {
    put_cb(0x100, 50, {0b001});
    ASSERT_THAT(*maps({"0"}), SizeIs(1));
    EXPECT_EQ(map({"0"}).kind, Kind::l1);
}

TEST_F(AddressMaps, OfCircularBuffersAreOnePerProgramTheHighestFirst) {
    put(0x100 + 400, 800, "buffer", Kind::l1);
    put_cb(0x100, 50, {0b001}, 1, "one");
    put_cb(0x100, 80, {0b011}, 2, "two");
    put_cb(0x100 + 100, 10, {0b010}, 2, "two, more");
    put_cb(0x100, 30, {0b100}, 2, "elsewhere");
    const auto programs = *maps({.device = "0", .kind = Kind::cb});
    ASSERT_THAT(programs, SizeIs(2));
    const AddressMap& two = programs[0];
    EXPECT_EQ(two.kind, Kind::cb);
    EXPECT_EQ(two.bank, (Bank{0x100, 400, 8})) << "up to the lowest buffer";
    EXPECT_THAT(two.blocks, ElementsAre(Live(0x100u, 80u, "two"), gap(0x100 + 80, 20),
                                        Live(0x100u + 100, 10u, "two, more"), gap(0x100 + 110, 290)));
    EXPECT_EQ(two.core->core, (Core{1, 0})) << "of its highest circular buffer";
    EXPECT_EQ(two.core->on_other_cores, 1u);
    EXPECT_EQ(two.core->headroom, 290);
    EXPECT_THAT(two.core->programs, ElementsAre(CoreProgram{2, "two, more", 2, 90, 0x100 + 110}));
    EXPECT_EQ(programs[1].used, 50u);
    EXPECT_THAT(*maps({.device = "0", .kind = Kind::cb, .core = "2,0"}), SizeIs(1))
        << "only program 2 is there";
}

TEST_F(AddressMaps, OfProgramsBeyondTheLimitAreCounted) {
    for (const uint64_t program : {1u, 2u, 3u}) {
        put_cb(0x100, 10 * program, {0b001}, program);
    }
    const auto some =
        map_addresses(census_of(segment.process(7)), {.device = "0", .kind = Kind::cb, .limit = 2});
    ASSERT_THAT(some->maps, SizeIs(2));
    EXPECT_EQ(some->maps[0].used, 30u);
    EXPECT_EQ(some->left_out, 1u);
}

TEST_F(AddressMaps, OfACoreThatDoesNotExistAreAnError) {
    EXPECT_THAT(maps({.device = "0", .core = "3,0"}).error().text,
                HasSubstr("device 0 has no core 3,0: its cores are 0,0 to 2,1"));
    EXPECT_THAT(maps({.device = "0", .core = "3"}).error().text, HasSubstr("must be two numbers"));
    EXPECT_THAT(maps({.device = "0", .kind = Kind::dram, .core = "0,0"}).error().text,
                HasSubstr("dram is not part of a core"));
}

}  // namespace
}  // namespace ttmem::census
