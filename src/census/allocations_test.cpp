// SPDX-License-Identifier: Apache-2.0
#include "census/allocations.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "census/segment_test_support.hpp"

namespace ttmem::census {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Two processes: pid 7 has a mesh of the chips 0x10 and 0x20, pid 8 has the chip 0x20.
class Allocations : public testing::Test {
protected:
    void SetUp() override {
        one_.add_device(small_chip(0x10, 0));
        one_.add_device(small_chip(0x20, 1));
        two_.add_device(small_chip(0x20, 0));
        one_.add_set(3);
        two_.add_set(1);
        census_ = census_of(one_.process(7), two_.process(8));
    }

    static segment::Allocation dram(uint64_t reserved) {
        return allocation(0, segment::AllocationKind::dram, reserved, reserved, reserved);
    }

    std::vector<uint64_t> used(const AllocationQuery& query) {
        std::vector<uint64_t> result;
        const AllocationPage page = *list_allocations(census_, query);
        for (const LiveAllocation& live : page.allocations) {
            result.push_back(live.used);
        }
        return result;
    }

    TestSegment one_, two_;
    Census census_;
};

TEST_F(Allocations, OfAnEmptyHostAreNone) {
    Census empty;
    EXPECT_THAT(list_allocations(empty, {})->allocations, IsEmpty());
}

TEST_F(Allocations, ComeTheLargestFirstFromAllProcesses) {
    one_.add(dram(10));
    one_.add(dram(30));
    two_.add(dram(20));
    EXPECT_THAT(used({}), ElementsAre(30, 20, 10));
}

TEST_F(Allocations, AreChosenBySeveralKindsAndDevices) {
    one_.add(dram(10));
    two_.add(dram(20));
    two_.add(allocation(0, segment::AllocationKind::l1, 30, 30, 30));
    two_.add(allocation(0, segment::AllocationKind::trace, 40, 40, 40));
    KindSet kinds = Kind::dram;
    kinds.add(Kind::trace);
    EXPECT_THAT(used({.kind = kinds}), ElementsAre(40, 20, 10));
    EXPECT_THAT(used({.device = "0x10"}), ElementsAre(10));
    EXPECT_THAT(used({.device = "0x10,0x20"}), ElementsAre(40, 30, 20, 10));
    EXPECT_THAT(list_allocations(census_, {.device = "0x10,77"}).error().text, HasSubstr("a device 77"));
    EXPECT_THAT(list_allocations(census_, {.device = "0x10,"}).error().text, HasSubstr("a device "));
}

TEST_F(Allocations, AWrongPatternOfNamesIsRefused) {
    EXPECT_THAT(list_allocations(census_, {.name = "/(/"}).error().text, HasSubstr("a ( without a )"));
}

TEST_F(Allocations, ALimitKeepsTheLargestAndReportsTheTotalNumber) {
    for (uint64_t size = 1; size <= 50; ++size) {
        one_.add(dram(size));
        two_.add(dram(size + 100));
    }
    EXPECT_THAT(used({.limit = 3}), ElementsAre(150, 149, 148));
    EXPECT_EQ(list_allocations(census_, {.limit = 3})->total, 100u);
    EXPECT_EQ(used({}).size(), 100u);
}

TEST_F(Allocations, EqualOnesKeepTheirOrder) {
    for (int i = 0; i < 20; ++i) {
        segment::Allocation a = dram(5);
        a.owner = static_cast<uint64_t>(i);
        one_.add(a);
    }
    const AllocationPage page = *list_allocations(census_, {.limit = 4});
    for (uint64_t i = 0; i < 4; ++i) {
        EXPECT_EQ(page.allocations[i].owner, i);
    }
}

TEST_F(Allocations, AreFoundByDeviceProcessAndKind) {
    one_.add(dram(10));
    two_.add(dram(20));
    one_.add(allocation(0, segment::AllocationKind::l1, 1, 30, 30));
    EXPECT_THAT(used({.device = "0"}), ElementsAre(30, 10));
    EXPECT_THAT(used({.device = "0x20"}), ElementsAre(30, 20, 10));
    EXPECT_THAT(used({.pid = 8}), ElementsAre(20));
    EXPECT_THAT(used({.device = "1", .kind = census::Kind::dram}), ElementsAre(20, 10));
    EXPECT_THAT(used({.device = "0", .pid = 8}), IsEmpty());
}

TEST_F(Allocations, OfADeviceOrProcessThatIsNotThereAreAnError) {
    for (const char* device : {"2", "0x30", "0x0", "", "0x", "x", "1x", "-1", "99999999999999999999"}) {
        const auto page = list_allocations(census_, {.device = device});
        ASSERT_FALSE(page.has_value()) << device;
        EXPECT_THAT(page.error().text, HasSubstr("device " + std::string(device)));
    }
    const auto page = list_allocations(census_, {.pid = 9});
    ASSERT_FALSE(page.has_value());
    EXPECT_THAT(page.error().text, HasSubstr("no tracked process 9"));
}

TEST_F(Allocations, HaveTheirDescription) {
    segment::Allocation a = allocation(0, segment::AllocationKind::dram, 0x1000, 39, 40);
    a.name = one_.add_name("kv_cache", one_.add_name("decoder.3"));
    a.owner = 77;
    a.thread = 123;
    a.ticks = 5;
    one_.add(a);
    const LiveAllocation live = list_allocations(census_, {})->allocations.at(0);
    EXPECT_EQ(live.pid, 7u);
    EXPECT_THAT(live.devices, ElementsAre(0, 1));
    EXPECT_EQ(live.kind, census::Kind::dram);
    EXPECT_EQ(live.kernel_type, std::nullopt);
    EXPECT_EQ(live.address, 0x1000u);
    EXPECT_EQ(live.requested, 39u);
    EXPECT_EQ(live.used, 40u);
    EXPECT_EQ(live.name, "decoder.3/kv_cache");
    EXPECT_EQ(live.owner, 77u);
    EXPECT_EQ(live.thread, 123u);
    EXPECT_GT(live.age_ns, 0u);
    EXPECT_TRUE(live.reserved_known);
}

TEST_F(Allocations, AllocationsWithoutBytesAreListedWithTheirFlag) {
    one_.add(allocation(0, segment::AllocationKind::dram, 0, 50, 50, segment::AllocationFlag::planned));
    one_.add(allocation(0, segment::AllocationKind::cb, 0x200, 40, 40, segment::AllocationFlag::view));
    one_.add(
        allocation(0, segment::AllocationKind::l1, 0x300, 30, 30, segment::AllocationFlag::reserved_unknown));
    const AllocationPage page = *list_allocations(census_, {});
    EXPECT_FALSE(page.allocations[0].reserved_known);
    EXPECT_EQ(page.allocations[0].used, 30u);
    EXPECT_TRUE(page.allocations[1].planned);
    EXPECT_EQ(page.allocations[1].used, 0u);
    EXPECT_EQ(page.allocations[1].requested, 50u);
    EXPECT_TRUE(page.allocations[2].view);
}

TEST_F(Allocations, CircularBuffersHaveAType) {
    one_.add(allocation(0, segment::AllocationKind::cb, 1, 50, 50));
    one_.add(allocation(0, segment::AllocationKind::cb, 2, 40, 40, segment::AllocationFlag::dataflow));
    one_.add(allocation(0, segment::AllocationKind::cb, 3, 30, 30, segment::AllocationFlag::scratchpad));
    one_.add(allocation(0, segment::AllocationKind::l1, 4, 20, 20));
    const AllocationPage page = *list_allocations(census_, {});
    EXPECT_EQ(page.allocations[0].cb_type, "circular");
    EXPECT_EQ(page.allocations[1].cb_type, "dataflow");
    EXPECT_EQ(page.allocations[2].cb_type, "scratchpad");
    EXPECT_EQ(page.allocations[3].cb_type, std::nullopt);
}

TEST_F(Allocations, KernelsHaveATypeAndNoAddress) {
    one_.add(allocation(0, segment::AllocationKind::kernel_fabric, 5, 50, 50));
    const LiveAllocation live = list_allocations(census_, {})->allocations.at(0);
    EXPECT_EQ(live.kind, census::Kind::kernel);
    EXPECT_EQ(live.kernel_type, "fabric");
    EXPECT_EQ(live.address, std::nullopt);
}

TEST_F(Allocations, OfKindsAndSetsThatDoNotExistAreLeftOut) {
    one_.add_to_ledger(allocation(0, static_cast<segment::AllocationKind>(15), 1, 1, 1));
    one_.add_to_ledger(allocation(99, segment::AllocationKind::dram, 1, 1, 1));
    EXPECT_THAT(used({}), IsEmpty());
}

}  // namespace
}  // namespace ttmem::census
