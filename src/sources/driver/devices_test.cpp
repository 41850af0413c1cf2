// SPDX-License-Identifier: Apache-2.0
#include "sources/driver/devices.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "sources/driver/driver.hpp"
#include "sources/driver/tree_test_support.hpp"

namespace ttmem::sources::driver {
namespace {

namespace fs = std::filesystem;
using census::DriverDevice;
using testing::IsEmpty;
using testing::SizeIs;

DriverDevice wormhole(const std::string& board, const std::string& serial) {
    DriverDevice device;
    device.asic_id = 0xa51c'0000'0000'0001;
    device.arch = "wormhole_b0";
    device.board = board;
    device.facts = {"0000:01:00.0", 0, serial, "18.10.0.0", {"16.0 GT/s PCIe", "16.0 GT/s PCIe", 16, 16}};
    census::Telemetry& telemetry = device.telemetry;
    telemetry.temperature_c = 48.312;
    telemetry.temperature_max_c = 75.0;
    telemetry.power_w = 17.0;
    telemetry.power_max_w = 85.0;
    telemetry.current_a = 23.0;
    telemetry.current_max_a = 160.0;
    telemetry.voltage_v = 0.72;
    telemetry.voltage_max_v = 0.95;
    telemetry.aiclk_mhz = 1000;
    telemetry.axiclk_mhz = 900;
    telemetry.arcclk_mhz = 540;
    return device;  // it has no fan, and does not count thermal trips
}

DriverDevice blackhole() {
    DriverDevice device;
    device.asic_id = 0xa51c'0000'0000'0001;
    device.arch = "blackhole";
    device.board = "p150a";
    device.facts = {
        "0000:01:00.0", 1, "0000040134109001", "18.12.1", {"16.0 GT/s PCIe", "32.0 GT/s PCIe", 16, 16}};
    census::Telemetry& telemetry = device.telemetry;
    telemetry.temperature_c = 51.25;
    telemetry.temperature_max_c = 90.0;
    telemetry.power_w = 52.0;
    telemetry.power_max_w = 300.0;
    telemetry.current_a = 61.0;
    telemetry.current_max_a = 300.0;
    telemetry.voltage_v = 0.845;
    telemetry.voltage_max_v = 0.9;
    telemetry.aiclk_mhz = 1350;
    telemetry.axiclk_mhz = 900;
    telemetry.arcclk_mhz = 540;
    telemetry.fan_rpm = 1830;
    telemetry.thermal_trips = 0;
    return device;
}

TEST(Devices, AreWhatTheDriverSaysOfThem) {
    const std::vector<std::pair<Board, DriverDevice>> cases = {
        {Board::n150, wormhole("n150", "0100018811703001")},
        // The second chip is remote, and unknown to the driver.
        {Board::n300, wormhole("n300", "0100014511702001")},
        {Board::p150, blackhole()},
    };
    for (const auto& [board, expected] : cases) {
        const TemporaryFolder folder;
        const auto driver = DriverTree(make_tree(folder.path, board).roots()).read();
        ASSERT_TRUE(driver);
        ASSERT_THAT(driver->devices, SizeIs(1)) << *expected.board;
        EXPECT_EQ(driver->devices[0], expected) << *expected.board;
        EXPECT_THAT(driver->holders, IsEmpty());
    }
}

TEST(Devices, OfAHostComeInTheOrderOfTheirNumbersEachWithItsOwnFacts) {
    struct Case {
        Board board;
        std::string name;
        size_t count;
        std::string last_bdf;
        int32_t last_node;
    };
    const std::vector<Case> cases = {{Board::t3000, "n300", 4, "0000:04:00.0", 1},
                                     {Board::galaxy, "galaxy-wormhole", 32, "0000:20:00.0", 1}};
    for (const Case& c : cases) {
        const TemporaryFolder folder;
        const auto driver = DriverTree(make_tree(folder.path, c.board).roots()).read();
        ASSERT_TRUE(driver);
        ASSERT_THAT(driver->devices, SizeIs(c.count)) << c.name;
        std::set<uint64_t> asics;
        for (uint32_t id = 0; id < c.count; ++id) {
            EXPECT_EQ(driver->devices[id].id, id);  // numeric order: 10 follows 9
            EXPECT_EQ(driver->devices[id].board, c.name);
            EXPECT_EQ(driver->devices[id].asic_id, 0xa51c'0000'0000'0001 + id);
            EXPECT_EQ(driver->devices[id].telemetry.temperature_c, 48.312);
        }
        EXPECT_EQ(driver->devices.front().facts.numa_node, 0);
        EXPECT_EQ(driver->devices.back().facts.bdf, c.last_bdf);
        EXPECT_EQ(driver->devices.back().facts.numa_node, c.last_node);
    }
}

TEST(Devices, ThatHaveOneAsicIdTogetherHaveNoneAndStayApart) {
    const TemporaryFolder folder;
    const Tree tree = make_tree(folder.path, Board::t3000);
    write_file(tree.attributes(2) / "tt_asic_id", "A51C000000000001\n");  // the id of device 0
    const auto driver = DriverTree(tree.roots()).read();
    ASSERT_THAT(driver->devices, SizeIs(4));
    EXPECT_EQ(driver->devices[0].asic_id, std::nullopt);
    EXPECT_EQ(driver->devices[1].asic_id, 0xa51c'0000'0000'0002);
    EXPECT_EQ(driver->devices[2].asic_id, std::nullopt);
}

TEST(Devices, AreNotKnownWithoutADriver) {
    const TemporaryFolder folder;
    EXPECT_EQ(DriverTree(Roots{folder.path / "sys", folder.path / "proc", folder.path / "dev"}).read(),
              nullptr);
}

TEST(Devices, AreNoneWhereADriverHasNone) {
    const TemporaryFolder folder;
    fs::create_directories(folder.path / "sys/class/tenstorrent");
    const auto driver =
        DriverTree(Roots{folder.path / "sys", folder.path / "proc", folder.path / "dev"}).read();
    ASSERT_TRUE(driver);
    EXPECT_THAT(driver->devices, IsEmpty());
    EXPECT_THAT(driver->holders, IsEmpty());
}

TEST(Devices, FindTheirSensorsAmongAllOfTheHostWhereTheyHaveNoneOfTheirOwn) {
    const TemporaryFolder folder;
    const Tree tree = make_tree(folder.path, Board::t3000);
    const fs::path all = folder.path / "sys/class/hwmon";
    for (uint32_t id = 0; id < 4; ++id) {
        fs::remove(all / ("hwmon" + std::to_string(id)));
        fs::rename(tree.sensors(id), all / ("hwmon" + std::to_string(9 - id)));
        const fs::path link = all / ("hwmon" + std::to_string(9 - id)) / "device";
        fs::remove(link);
        fs::create_directory_symlink(tree.pci(id), link);
        fs::remove_all(tree.pci(id) / "hwmon");
        write_file(all / ("hwmon" + std::to_string(9 - id)) / "temp1_input",
                   std::to_string(40'000 + id * 1000));
    }
    write_file(all / "hwmon0/name", "nvme\n");  // another chip that links to the same device
    write_file(all / "hwmon0/temp1_input", "99000\n");
    fs::create_directory_symlink(tree.pci(0), all / "hwmon0/device");
    const auto readings = read_devices(tree.roots().sys);
    ASSERT_TRUE(readings);
    ASSERT_THAT(*readings, SizeIs(4));
    for (uint32_t id = 0; id < 4; ++id) {
        EXPECT_EQ((*readings)[id].device.telemetry.temperature_c, 40.0 + id);
    }
}

TEST(Devices, HaveTheirHeartbeatTimedByTheClockOfTheLooks) {
    const TemporaryFolder folder;
    const Tree tree = make_tree(folder.path, Board::n150);
    Heartbeats::Time now{};
    DriverTree reader(tree.roots(), [&] { return now; });
    const auto is_alive = [&] { return reader.read()->devices.at(0).telemetry.is_alive; };
    EXPECT_EQ(is_alive(), std::nullopt);
    now += std::chrono::seconds(1);
    EXPECT_EQ(is_alive(), false);
    write_file(tree.attributes(0) / "tt_heartbeat", "1001\n");
    EXPECT_EQ(is_alive(), true);
    fs::remove(tree.attributes(0) / "tt_heartbeat");
    EXPECT_EQ(is_alive(), std::nullopt);
}

}  // namespace
}  // namespace ttmem::sources::driver
