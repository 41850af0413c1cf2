// SPDX-License-Identifier: Apache-2.0
#include "census/address_map.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
        segment.add_device(small_chip(0x10, 0));
        set = segment.add_set(1);
    }
    void put(uint64_t address, uint64_t reserved, const char* name = "", Kind kind = Kind::dram) {
        segment::Allocation a =
            allocation(set, kind == Kind::dram ? segment::AllocationKind::dram : segment::AllocationKind::l1,
                       address, reserved, reserved);
        a.name = *name == '\0' ? 0 : segment.add_name(name);
        segment.add(a);
    }
    base::Expected<std::vector<AddressMap>> maps(MapQuery query) {
        return map_addresses(census_of(segment.process(7)), query);
    }
    AddressMap map(MapQuery query) {
        const auto all = maps(std::move(query));
        EXPECT_TRUE(all);
        return all ? all->at(0) : AddressMap{};
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
    return !arg.is_free && arg.address == address && arg.bytes == bytes && arg.name == name;
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

TEST_F(AddressMaps, AreNotOfKindsWithoutAPool) {
    MapQuery query{"0"};
    query.kind = Kind::cb;
    EXPECT_THAT(maps(query).error().text, HasSubstr("cb has no addresses of its own"));
    EXPECT_THAT(maps({"9"}).error().text, HasSubstr("device 9"));
}

}  // namespace
}  // namespace ttmem::census
