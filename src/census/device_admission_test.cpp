// SPDX-License-Identifier: Apache-2.0

// Devices that processes invent, beside real ones.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "census/figures.hpp"
#include "census/segment_test_support.hpp"

namespace ttmem::census {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

// A process with one set on all its devices.
struct Reporter {
    explicit Reporter(const std::vector<uint64_t>& asic_ids) {
        uint32_t logical_id = 0;
        for (const uint64_t asic_id : asic_ids) {
            segment.add_device(small_chip(asic_id, logical_id++));
        }
        const uint64_t members = asic_ids.size() == 64 ? UINT64_MAX : (uint64_t{1} << asic_ids.size()) - 1;
        segment.add(allocation(segment.add_set(members), segment::AllocationKind::dram, 0x1000, 40, 40));
    }
    Process process(uint32_t pid, uint64_t start_time, uint32_t uid) {
        Process result = segment.process(pid, start_time);
        result.identity.uid = uid;
        return result;
    }

    TestSegment segment;
};

std::vector<uint64_t> asic_ids_of(const Figures& figures) {
    std::vector<uint64_t> result;
    for (const DeviceFigures& device : figures.devices) {
        result.push_back(device.asic_id.value_or(0));
    }
    return result;
}

TEST(DeviceAdmission, DevicesBeyondTheShareOfAUserAreLeftOutWithTheirNumber) {
    Reporter hostile({0x10, 0x20, 0x30});
    Census census = census_of(hostile.process(8, 100, kUser));
    census.work_budgets.own_devices = 2;
    const Figures figures = compute_figures(census);
    EXPECT_THAT(asic_ids_of(figures), ElementsAre(0x10, 0x20));
    EXPECT_THAT(figures.inexact, ElementsAre(Inexactness{8, Reason::too_many_devices, 1}));
    EXPECT_THAT(figures.processes[0].devices, SizeIs(2));
    census.work_budgets.own_devices = 3;
    EXPECT_THAT(compute_figures(census).inexact, IsEmpty());
}

TEST(DeviceAdmission, ALateFloodDisplacesNoEarlierProcessOfTheSameUser) {
    Reporter honest({0x9999});
    Reporter hostile(invented_asic_ids(64, 1));
    Census census = census_of(hostile.process(3, 200, kUser), honest.process(9, 100, kUser));
    census.work_budgets.own_devices = 1;
    const Figures figures = compute_figures(census);
    EXPECT_THAT(asic_ids_of(figures), ElementsAre(0x9999));
    EXPECT_THAT(figures.inexact, ElementsAre(Inexactness{3, Reason::too_many_devices, 64}));
}

TEST(DeviceAdmission, ADeviceOfAnotherUserOrOfTheDriverAlwaysFindsRoom) {
    Reporter hostile(invented_asic_ids(64, 1));
    Reporter honest({0x9999, 64});
    Census census = census_of(hostile.process(3, 100, kUser), honest.process(9, 200, kOtherUser));
    Driver driver;
    DriverDevice on_the_bus;
    on_the_bus.id = 0;
    on_the_bus.asic_id = 63;
    driver.devices = {on_the_bus};
    census.driver = std::make_shared<Driver>(driver);
    census.work_budgets.own_devices = 2;
    const Figures figures = compute_figures(census);
    EXPECT_THAT(asic_ids_of(figures), testing::UnorderedElementsAre(63, 1, 2, 64, 0x9999))
        << "two of its own, the driver's, and the one of both users";
    EXPECT_THAT(figures.inexact, ElementsAre(Inexactness{3, Reason::too_many_devices, 60}));
}

TEST(DeviceAdmission, UsersThatReportTheSameInventedDevicesShareTheirRoom) {
    Reporter one(invented_asic_ids(64, 1));
    Reporter two(invented_asic_ids(64, 1));
    Census census = census_of(one.process(3, 100, kUser), two.process(4, 100, kOtherUser));
    census.work_budgets.own_devices = 4;
    EXPECT_THAT(compute_figures(census).devices, SizeIs(8));
}

TEST(DeviceAdmission, DevicesKnownByNumberCountToo) {
    TestSegment segment;
    for (uint32_t number = 0; number < 10; ++number) {
        ttmem_device_info info{};
        info.logical_id = 1'000'000 + number;
        segment.add_device(info);
    }
    Census census = census_of(segment.process(7));
    census.work_budgets.own_devices = 3;
    const Figures figures = compute_figures(census);
    EXPECT_THAT(figures.devices, SizeIs(3));
    EXPECT_THAT(figures.inexact, ElementsAre(Inexactness{7, Reason::too_many_devices, 7}));
}

TEST(DeviceAdmission, EntriesAndMembersOfSetsHaveShares) {
    Reporter first({0x10, 0x20});
    Reporter second({0x10, 0x20});
    Reporter other({0x10, 0x20});
    Census census = census_of(first.process(7, 100, kUser), second.process(8, 200, kUser),
                              other.process(9, 300, kOtherUser));
    census.work_budgets.device_entries = 3;
    Figures figures = compute_figures(census);
    EXPECT_THAT(figures.inexact, ElementsAre(Inexactness{8, Reason::too_many_devices, 1}));
    EXPECT_EQ(figures.devices[0].memory[kDram].used, 120u);
    EXPECT_EQ(figures.devices[1].memory[kDram].used, 80u);

    census.work_budgets = {};
    census.work_budgets.set_members = 3;
    figures = compute_figures(census);
    EXPECT_THAT(figures.inexact, ElementsAre(Inexactness{8, Reason::too_many_devices, 2}));
    EXPECT_EQ(figures.devices[0].memory[kDram].used, 80u);
}

TEST(DeviceAdmission, AProcessWithOnlyTotalsHasTheSameShare) {
    Census census;
    TotalsOnly stock;
    stock.identity.pid = 9;
    stock.identity.uid = kUser;
    for (uint64_t asic_id = 1; asic_id <= 3; ++asic_id) {
        DeviceTotals totals;
        totals.asic_id = asic_id;
        totals.requested[kDram] = 100;
        stock.devices.push_back(totals);
    }
    census.totals_only = {stock};
    census.work_budgets.own_devices = 2;
    const Figures figures = compute_figures(census);
    EXPECT_THAT(asic_ids_of(figures), ElementsAre(1, 2));
    EXPECT_THAT(figures.processes[0].devices, SizeIs(2));
    EXPECT_THAT(figures.inexact, Contains(Inexactness{9, Reason::too_many_devices, 1}));
}

TEST(DeviceAdmission, BeyondTheNumbersOfAUserADeviceIsLeftOutAndHasNoMadeUpNumber) {
    Census census;
    std::vector<ReportedDevice> invented;
    for (const uint64_t asic_id : invented_asic_ids(DeviceIds::kMostPerUser, 0x1000)) {
        invented.push_back({asic_key(asic_id), 0, kUser});
    }
    census.device_ids->assign(invented);
    Reporter hostile({1});
    Reporter honest({2});
    census.processes = {hostile.process(3, 100, kUser), honest.process(4, 100, kOtherUser)};
    const Figures figures = compute_figures(census);
    EXPECT_THAT(asic_ids_of(figures), ElementsAre(2));
    EXPECT_EQ(figures.devices[0].id, DeviceIds::kMostPerUser);
    EXPECT_THAT(figures.inexact, ElementsAre(Inexactness{3, Reason::too_many_devices, 1}));
}

TEST(DeviceAdmission, AnArchitectureWithoutANameIsShownByItsNumber) {
    TestSegment segment;
    ttmem_device_info newer = small_chip(0x10, 0);
    newer.arch = 9;
    segment.add_device(newer);
    segment.add_set(1);
    const Figures figures = compute_figures(census_of(segment.process(3, 50)));
    EXPECT_EQ(figures.devices.at(0).arch, "arch 9");
}

TEST(DeviceAdmission, WhatUsersDescribeDifferentlyIsInexactAndTheDriverNamesTheCard) {
    Reporter honest({0x10});
    TestSegment hostile;
    ttmem_device_info lie = small_chip(0x10, 0);
    lie.arch = TTMEM_ARCH_BLACKHOLE;
    std::memcpy(lie.board, "p150", 5);
    lie.memory[TTMEM_DRAM].capacity = 1;
    hostile.add_device(lie);
    hostile.add_set(1);
    Process liar = hostile.process(3, 50);
    liar.identity.uid = kOtherUser;
    Census census = census_of(std::move(liar), honest.process(7, 100, kUser));
    Figures figures = compute_figures(census);
    EXPECT_THAT(figures.inexact, ElementsAre(Inexactness{
                                     0, Reason::device_disputed, 1,
                                     "0: process 7 describes it differently from processes of other users"}))
        << "one word against another: the older process decides";

    Driver driver;
    DriverDevice on_the_bus;
    on_the_bus.asic_id = 0x10;
    on_the_bus.arch = "wormhole_b0";
    on_the_bus.board = "n300";
    driver.devices = {on_the_bus};
    census.driver = std::make_shared<Driver>(driver);
    figures = compute_figures(census);
    EXPECT_EQ(figures.devices[0].arch, "wormhole_b0");
    EXPECT_EQ(figures.devices[0].board, "n300");
    EXPECT_EQ(figures.devices[0].memory[kDram].capacity, 4000u);
    ASSERT_THAT(figures.inexact, SizeIs(1));
    EXPECT_EQ(text_of(figures.inexact[0]), "device 0: process 3 describes it differently from the driver");
}

}  // namespace
}  // namespace ttmem::census
