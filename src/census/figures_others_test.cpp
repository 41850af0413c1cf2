// SPDX-License-Identifier: Apache-2.0

// Processes without a ledger and devices of the driver, with and without processes that have a ledger.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "census/figures.hpp"
#include "census/segment_test_support.hpp"

namespace ttmem::census {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

Identity identity(uint32_t pid, uint64_t start_time = 100) {
    return {pid, pid, start_time, 1'000, 0, "root", "python3"};
}

DriverDevice on_the_bus(uint32_t id, std::optional<uint64_t> asic_id, const std::string& board = "n300") {
    DriverDevice device;
    device.id = id;
    device.asic_id = asic_id;
    device.arch = "wormhole_b0";
    device.board = board;
    device.facts.bdf = "0000:0" + std::to_string(id) + ":00.0";
    device.telemetry.temperature_c = 40.5 + id;
    return device;
}

TotalsOnly stock(uint32_t pid, uint64_t asic_id, uint64_t dram, uint64_t l1) {
    TotalsOnly one;
    one.identity = identity(pid);
    DeviceTotals totals;
    totals.asic_id = asic_id;
    totals.logical_id = 3;
    totals.requested[kDram] = dram;
    totals.requested[kL1] = l1;
    one.devices.push_back(totals);
    return one;
}

struct FiguresOthers : testing::Test {
    FiguresOthers() {
        segment.add_device(small_chip(0x10, 0));
        segment.add(allocation(segment.add_set(1), segment::AllocationKind::dram, 0x1000, 390, 400));
        driver.devices = {on_the_bus(0, 0x10), on_the_bus(1, 0x20)};
    }
    Figures figures(Depth depth = Depth::ledgers) {
        census.driver = std::make_shared<Driver>(driver);
        return compute_figures(census, depth);
    }

    TestSegment segment;
    Driver driver;
    Census census;
};

TEST_F(FiguresOthers, AnUnusedDeviceIsShownAsTheDriverReportsIt) {
    const Figures all = figures();
    ASSERT_THAT(all.devices, SizeIs(2));
    const DeviceFigures& device = all.devices[1];
    EXPECT_EQ(device.id, 1u);
    EXPECT_EQ(device.asic_id, 0x20u);
    EXPECT_EQ(device.arch, "wormhole_b0");
    EXPECT_EQ(device.board, "n300");
    EXPECT_EQ(device.driver->bdf, "0000:01:00.0");
    EXPECT_EQ(device.telemetry.temperature_c, 41.5);
    EXPECT_EQ(device.is_remote, false);
    EXPECT_EQ(device.memory[kDram].used, 0u);
    EXPECT_TRUE(device.memory[kDram].is_known) << "without processes nothing is held";
    EXPECT_THAT(all.inexact, IsEmpty());
}

TEST_F(FiguresOthers, CapacityComesFromTheCardTypeUntilAProcessReportsIt) {
    EXPECT_EQ(figures().devices[0].memory[kDram].capacity, 12'872'318'208u);
    EXPECT_EQ(figures().devices[0].memory[kL1].capacity, 78'034'432u);
    census.processes.push_back(segment.process(7));
    EXPECT_EQ(figures().devices[0].memory[kDram].capacity, 4'000u);
    EXPECT_EQ(figures().devices[1].memory[kDram].capacity, 12'872'318'208u);
}

TEST_F(FiguresOthers, OfACardThatIsNotKnownOrHasCoresFusedOffTheCapacityIsNotKnown) {
    driver.devices = {on_the_bus(0, 0x10, "p150a"), on_the_bus(1, 0x20, "x999")};
    EXPECT_EQ(figures().devices[0].memory[kDram].capacity, uint64_t{8} * (4'278'190'080 - 1'048'704));
    EXPECT_EQ(figures().devices[0].memory[kL1].capacity, std::nullopt);
    EXPECT_EQ(figures().devices[1].memory[kDram].capacity, std::nullopt);
}

TEST_F(FiguresOthers, ADeviceHasTheDriversNumberAndARemoteOneTheNext) {
    driver.devices = {on_the_bus(0, 0x20), on_the_bus(1, 0x10)};
    segment.add_device(small_chip(0x05, 1));
    segment.add_set(2);
    census.processes.push_back(segment.process(7));
    const Figures all = figures();
    ASSERT_THAT(all.devices, SizeIs(3));
    EXPECT_EQ(all.devices[0].asic_id, 0x20u);
    EXPECT_EQ(all.devices[1].asic_id, 0x10u);
    EXPECT_EQ(all.devices[1].memory[kDram].used, 400u);
    EXPECT_EQ(all.devices[2].asic_id, 0x05u);
    EXPECT_EQ(all.devices[1].is_remote, false);
    EXPECT_EQ(all.devices[2].is_remote, true);
    EXPECT_EQ(all.devices[2].telemetry, Telemetry{});
    EXPECT_EQ(all.devices[2].driver, std::nullopt);
}

TEST_F(FiguresOthers, WithoutADriverNothingIsSaidAboutTheBus) {
    census.processes.push_back(segment.process(7));
    const Figures all = compute_figures(census);
    ASSERT_THAT(all.devices, SizeIs(1));
    EXPECT_EQ(all.devices[0].is_remote, std::nullopt);
}

TEST_F(FiguresOthers, ADriverThatIsLoadedLaterDecidesTheNumbersOfItsDevices) {
    census.processes.push_back(segment.process(7));
    EXPECT_EQ(compute_figures(census).devices[0].id, 0u);
    driver.devices = {on_the_bus(0, 0x20), on_the_bus(1, 0x10)};
    const Figures all = figures();
    ASSERT_THAT(all.devices, SizeIs(2));
    EXPECT_EQ(all.devices[0].asic_id, 0x20u)
        << "nobody can take a number of /dev/tenstorrent before the driver is loaded";
    EXPECT_EQ(all.devices[1].asic_id, 0x10u);
    EXPECT_EQ(all.devices[1].id, 1u);
}

TEST_F(FiguresOthers, ADeviceThatLeftTheBusIsNotRemote) {
    census.processes.push_back(segment.process(7));
    EXPECT_EQ(figures().devices[0].is_remote, false);
    driver.devices = {on_the_bus(1, 0x20)};
    const Figures all = figures();
    EXPECT_EQ(all.devices[0].asic_id, 0x10u);
    EXPECT_EQ(all.devices[0].is_remote, false);
    EXPECT_EQ(all.devices[0].driver, std::nullopt);
}

TEST_F(FiguresOthers, DevicesWithoutAnAsicIdInTheDriverKeepTheirNumbers) {
    driver.devices = {on_the_bus(0, std::nullopt), on_the_bus(1, std::nullopt)};
    census.processes.push_back(segment.process(7));
    const Figures all = figures();
    ASSERT_THAT(all.devices, SizeIs(3));
    EXPECT_EQ(all.devices[2].id, 2u);
    EXPECT_EQ(all.devices[2].asic_id, 0x10u);
    EXPECT_EQ(all.devices[2].is_remote, std::nullopt) << "it may be one of the others";
    EXPECT_THAT(all.inexact, IsEmpty()) << "the driver lists no holder";
}

TEST_F(FiguresOthers, MemoryOnAHeldDeviceWithoutAnAsicIdIsUnknownNotZero) {
    driver.devices = {on_the_bus(0, std::nullopt)};
    driver.holders = {{identity(7), {0}}};
    census.processes.push_back(segment.process(7));
    const Figures all = figures();
    ASSERT_THAT(all.devices, SizeIs(2));
    EXPECT_FALSE(all.devices[0].memory[kDram].is_known);
    EXPECT_EQ(all.devices[1].memory[kDram].used, 400u);
    ASSERT_THAT(all.inexact, SizeIs(1));
    EXPECT_EQ(all.inexact[0], (Inexactness{0, Reason::no_asic_id, 1, "0"}));
}

TEST_F(FiguresOthers, AProcessWithOnlyTotalsCountsByItsTotals) {
    census.totals_only = {stock(9, 0x20, 65'536, 32'768)};
    const Figures all = figures();
    ASSERT_THAT(all.processes, SizeIs(1));
    EXPECT_EQ(all.processes[0].source, ProcessSource::stock);
    EXPECT_EQ(all.processes[0].state, ProcessState::live);
    ASSERT_THAT(all.processes[0].devices, SizeIs(1));
    const DeviceHoldings& held = all.processes[0].devices[0];
    EXPECT_EQ(held.id, 1u);
    EXPECT_EQ(held.logical_id, 3u);
    EXPECT_EQ(held.memory[kDram], (Holding{65'536, 65'536, 0, true, false}));
    EXPECT_FALSE(held.memory[kCb].is_known);

    const DeviceFigures& device = all.devices[1];
    EXPECT_EQ(device.memory[kDram].used, 65'536u);
    EXPECT_EQ(device.memory[kDram].requested, 65'536u);
    EXPECT_EQ(device.memory[kDram].peak, 65'536u);
    EXPECT_FALSE(device.memory[kDram].peak_exact);
    EXPECT_TRUE(device.memory[kDram].is_known);
    EXPECT_FALSE(device.memory[kDram].is_count_known);
    EXPECT_FALSE(device.memory[kCb].is_known) << "no process reports it, and one may hold some";
    ASSERT_THAT(all.inexact, SizeIs(2));
    EXPECT_EQ(all.inexact[0].reason, Reason::reserved_unknown);
    EXPECT_EQ(all.inexact[1].reason, Reason::totals_only);
}

TEST_F(FiguresOthers, AKindIsTheSumOfItsReportersBesideAProcessThatDoesNotReportIt) {
    census.processes.push_back(segment.process(7));
    census.totals_only = {stock(3, 0x10, 1'000, 0)};
    const Figures all = figures();
    EXPECT_EQ(all.devices[0].memory[kDram].used, 1'400u);
    EXPECT_TRUE(all.devices[0].memory[kCb].is_known);
    EXPECT_THAT(all.inexact, SizeIs(2));
    std::vector<uint32_t> pids;
    for (const ProcessFigures& process : all.processes) {
        pids.push_back(process.pid);
    }
    EXPECT_THAT(pids, ElementsAre(3, 7));
}

TEST_F(FiguresOthers, AHolderThatReportsNothingIsUntrackedAndItsDeviceIsNotEmpty) {
    driver.holders = {{identity(42), {0, 1}}};
    const Figures all = figures();
    ASSERT_THAT(all.processes, SizeIs(1));
    EXPECT_EQ(all.processes[0].state, ProcessState::untracked);
    EXPECT_EQ(all.processes[0].source, ProcessSource::driver);
    ASSERT_THAT(all.processes[0].devices, SizeIs(2));
    EXPECT_FALSE(all.processes[0].devices[1].memory[kDram].is_known);
    for (const DeviceFigures& device : all.devices) {
        for (const MemoryFigures& memory : device.memory) {
            EXPECT_FALSE(memory.is_known);
        }
    }
    ASSERT_THAT(all.inexact, SizeIs(1));
    EXPECT_EQ(all.inexact[0].reason, Reason::untracked);
    EXPECT_EQ(all.inexact[0].count, 2u);
}

TEST_F(FiguresOthers, AHolderThatReportsIsNotUntracked) {
    census.processes.push_back(segment.process(7));
    census.totals_only = {stock(9, 0x20, 1, 1)};
    driver.holders = {{identity(7), {0}}, {identity(9), {1}}};
    EXPECT_THAT(figures().processes, SizeIs(2));
    driver.holders = {{identity(7, 999), {0}}};
    EXPECT_THAT(figures().processes, SizeIs(3)) << "the pid was given to another";
}

}  // namespace
}  // namespace ttmem::census
