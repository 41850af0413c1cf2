// SPDX-License-Identifier: Apache-2.0
//
// Trees of drivers and devices that are broken or being removed. Unknown values must be absent, never wrong.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <thread>

#include "sources/driver/driver.hpp"
#include "sources/driver/tree_test_support.hpp"

namespace ttmem::sources::driver {
namespace {

namespace fs = std::filesystem;
using census::DriverDevice;
using testing::IsEmpty;
using testing::SizeIs;

class BrokenTree : public testing::Test {
protected:
    DriverDevice read_one() const {
        const auto driver = DriverTree(tree_.roots()).read();
        DriverDevice not_one;
        not_one.id = 999;
        return driver && driver->devices.size() == 1 ? driver->devices[0] : not_one;
    }

    // The file of a value, and a function that clears the value.
    struct Value {
        fs::path file;
        std::function<void(DriverDevice&)> forget;
    };
    std::vector<Value> values() const {
        const fs::path attributes = tree_.attributes(0);
        const fs::path pci = tree_.pci(0);
        const fs::path sensors = tree_.sensors(0);
        return {
            {attributes / "tt_asic_id", [](DriverDevice& d) { d.asic_id.reset(); }},
            {attributes / "tt_card_type", [](DriverDevice& d) { d.board.reset(); }},
            {attributes / "tt_serial", [](DriverDevice& d) { d.facts.serial.reset(); }},
            {attributes / "tt_fw_bundle_ver", [](DriverDevice& d) { d.facts.firmware.reset(); }},
            {attributes / "tt_aiclk", [](DriverDevice& d) { d.telemetry.aiclk_mhz.reset(); }},
            {attributes / "tt_axiclk", [](DriverDevice& d) { d.telemetry.axiclk_mhz.reset(); }},
            {attributes / "tt_arcclk", [](DriverDevice& d) { d.telemetry.arcclk_mhz.reset(); }},
            {attributes / "tt_therm_trip_count", [](DriverDevice& d) { d.telemetry.thermal_trips.reset(); }},
            {pci / "vendor", [](DriverDevice& d) { d.arch.reset(); }},
            {pci / "device", [](DriverDevice& d) { d.arch.reset(); }},
            {pci / "numa_node", [](DriverDevice& d) { d.facts.numa_node.reset(); }},
            {pci / "current_link_speed", [](DriverDevice& d) { d.facts.link.speed.reset(); }},
            {pci / "max_link_speed", [](DriverDevice& d) { d.facts.link.max_speed.reset(); }},
            {pci / "current_link_width", [](DriverDevice& d) { d.facts.link.width.reset(); }},
            {pci / "max_link_width", [](DriverDevice& d) { d.facts.link.max_width.reset(); }},
            {sensors / "temp1_input", [](DriverDevice& d) { d.telemetry.temperature_c.reset(); }},
            {sensors / "temp1_max", [](DriverDevice& d) { d.telemetry.temperature_max_c.reset(); }},
            {sensors / "in0_input", [](DriverDevice& d) { d.telemetry.voltage_v.reset(); }},
            {sensors / "in0_max", [](DriverDevice& d) { d.telemetry.voltage_max_v.reset(); }},
            {sensors / "curr1_input", [](DriverDevice& d) { d.telemetry.current_a.reset(); }},
            {sensors / "curr1_max", [](DriverDevice& d) { d.telemetry.current_max_a.reset(); }},
            {sensors / "power1_input", [](DriverDevice& d) { d.telemetry.power_w.reset(); }},
            {sensors / "power1_max", [](DriverDevice& d) { d.telemetry.power_max_w.reset(); }},
            {sensors / "fan1_input", [](DriverDevice& d) { d.telemetry.fan_rpm.reset(); }},
        };
    }

    TemporaryFolder folder_;
    Tree tree_ = make_tree(folder_.path, Board::p150);
};

TEST_F(BrokenTree, AValueThatCanNotBeReadIsAbsentAndAllOthersStay) {
    struct Way {
        std::string name;
        std::function<void(const fs::path&)> apply;
    };
    const std::vector<Way> ways = {
        {"missing", [](const fs::path&) {}},
        {"a folder", [](const fs::path& file) { fs::create_directory(file); }},
        {"EIO", [](const fs::path& file) { fs::create_symlink("/proc/self/mem", file); }},
        {"dangling", [](const fs::path& file) { fs::create_symlink("nowhere", file); }},
        {"empty", [](const fs::path& file) { write_file(file, ""); }},
        {"an empty line", [](const fs::path& file) { write_file(file, "\n"); }},
        {"an escape", [](const fs::path& file) { write_file(file, "\x1b[2J\n"); }},
        {"no words", [](const fs::path& file) { write_file(file, "?? ??\n"); }},
        {"zeros", [](const fs::path& file) { write_file(file, std::string(100, '\0')); }},
        {"too long", [](const fs::path& file) { write_file(file, std::string(5000, '1')); }},
    };
    const DriverDevice whole = read_one();
    ASSERT_EQ(whole.id, 0u);
    for (const Value& value : values()) {
        DriverDevice expected = whole;
        value.forget(expected);
        ASSERT_NE(expected, whole) << value.file << " was not known to begin with";
        const fs::path aside = folder_.path / "aside";
        fs::rename(value.file, aside);
        for (const Way& way : ways) {
            way.apply(value.file);
            EXPECT_EQ(read_one(), expected) << value.file.filename() << ": " << way.name;
            fs::remove(value.file);
        }
        fs::rename(aside, value.file);
    }
    EXPECT_EQ(read_one(), whole);
}

TEST_F(BrokenTree, AValueThatCanNotBeIsAbsent) {
    const std::vector<std::pair<std::string, std::vector<std::string>>> cases = {
        {"tt_asic_id", {"0", "0000000000000000", "FFFFFFFFFFFFFFFF", "12345678123456781", "xyz", "-1"}},
        {"tt_card_type", {"unknown", "p150a p150b"}},
        {"tt_serial", {"0000000000000000", "FFFFFFFFFFFFFFFF", "serial"}},
        {"tt_fw_bundle_ver", {"0.0.0.0", "255.255.255.255", "abc"}},
        {"tt_aiclk", {"-1", "4294967295", "12x", "1e3", "99999999999999999999"}},
        {"tt_axiclk", {"-1", "4294967295"}},
        {"tt_arcclk", {"-1", "4294967295"}},
        {"tt_therm_trip_count", {"-1", "4294967295"}},
        {"vendor", {"0x1e53", "0xffff", "0x"}},
        {"device", {"0x401f", "0xffff", "0x"}},
        {"numa_node", {"-1", "-2", "2147483648"}},
        {"current_link_speed", {"Unknown", "Unknown speed"}},
        {"max_link_speed", {"Unknown"}},
        {"current_link_width", {"0", "63", "255", "-16"}},
        {"max_link_width", {"0", "63", "255"}},
        {"temp1_input", {"65535999", "4294966296", "-273151", "48.3", "9223372036854775808"}},
        {"temp1_max", {"4294966296"}},
        {"in0_input", {"-1", "4294967295"}},
        {"in0_max", {"65535"}},
        {"curr1_input", {"-1", "4294966296"}},
        {"curr1_max", {"4294966296"}},
        {"power1_input", {"-1", "4293967296"}},
        {"power1_max", {"4293967296"}},
        {"fan1_input", {"-1", "4294967295"}},
    };
    const DriverDevice whole = read_one();
    const std::vector<Value> all = values();
    ASSERT_EQ(all.size(), cases.size());
    for (size_t i = 0; i < all.size(); ++i) {
        ASSERT_EQ(all[i].file.filename(), cases[i].first);
        DriverDevice expected = whole;
        all[i].forget(expected);
        const fs::path aside = folder_.path / "aside";
        fs::rename(all[i].file, aside);
        for (const std::string& text : cases[i].second) {
            write_file(all[i].file, text + "\n");
            EXPECT_EQ(read_one(), expected) << cases[i].first << ": " << text;
        }
        fs::rename(aside, all[i].file);
    }
}

TEST_F(BrokenTree, AValueOfZeroThatTheDriverSaysIsZero) {
    for (const char* name : {"temp1_input", "in0_input", "curr1_input", "power1_input", "fan1_input"}) {
        write_file(tree_.sensors(0) / name, "0\n");
    }
    write_file(tree_.attributes(0) / "tt_aiclk", "0\n");
    const DriverDevice device = read_one();
    EXPECT_EQ(device.telemetry.temperature_c, 0.0);
    EXPECT_EQ(device.telemetry.voltage_v, 0.0);
    EXPECT_EQ(device.telemetry.current_a, 0.0);
    EXPECT_EQ(device.telemetry.power_w, 0.0);
    EXPECT_EQ(device.telemetry.fan_rpm, 0u);
    EXPECT_EQ(device.telemetry.aiclk_mhz, 0u);
}

TEST_F(BrokenTree, TheColdAndIdsWithAPrefixAndLinesWithoutAnEndAreFine) {
    write_file(tree_.sensors(0) / "temp1_input", "-12500");
    write_file(tree_.attributes(0) / "tt_asic_id", "0xa51c000000000002\n");
    write_file(tree_.attributes(0) / "tt_card_type", "p150b");
    EXPECT_EQ(read_one().telemetry.temperature_c, -12.5);
    EXPECT_EQ(read_one().asic_id, 0xa51c'0000'0000'0002);
    EXPECT_EQ(read_one().board, "p150b");
}

TEST_F(BrokenTree, ADeviceThatIsBeingResetIsListedWithNothingButItsNumber) {
    fs::remove_all(tree_.attributes(0));
    fs::create_directory(tree_.attributes(0));
    EXPECT_EQ(read_one(), DriverDevice{});
}

TEST_F(BrokenTree, ADeviceWhoseLinkLeadsNowhereKeepsItsOwnValues) {
    DriverDevice expected = read_one();
    expected.arch.reset();
    expected.facts.bdf.reset();
    expected.facts.numa_node.reset();
    expected.facts.link = {};
    const census::Telemetry all = std::exchange(expected.telemetry, {});
    expected.telemetry.aiclk_mhz = all.aiclk_mhz;
    expected.telemetry.axiclk_mhz = all.axiclk_mhz;
    expected.telemetry.arcclk_mhz = all.arcclk_mhz;
    expected.telemetry.thermal_trips = all.thermal_trips;
    fs::remove(tree_.attributes(0) / "device");
    EXPECT_EQ(read_one(), expected) << "no link";
    fs::create_directory_symlink("../../../0000:99:00.0", tree_.attributes(0) / "device");
    EXPECT_EQ(read_one(), expected) << "a dangling link";
    fs::remove(tree_.attributes(0) / "device");
    fs::create_directory_symlink("device", tree_.attributes(0) / "device");
    EXPECT_EQ(read_one(), expected) << "a link to itself";
}

TEST_F(BrokenTree, ATextOfAnotherShapeIsNoBdf) {
    const std::vector<std::pair<std::string, bool>> cases = {
        {"0000:c1:00.0", true},   {"10000:01:1f.7", true},
        {"0000:01:00:0", false},  {"0000.01:00.0", false},
        {"000:01:00.0", false},   {"pci0000:00", false},
        {"0000:0g:00.0", false},  {"0000:01:00.0 (deleted)", false},
        {"platform-dev0", false},
    };
    for (const auto& [name, is_one] : cases) {
        fs::create_directory(folder_.path / name);
        fs::remove(tree_.attributes(0) / "device");
        fs::create_directory_symlink(folder_.path / name, tree_.attributes(0) / "device");
        EXPECT_EQ(read_one().facts.bdf, is_one ? std::optional(name) : std::nullopt);
    }
}

TEST_F(BrokenTree, NamesThatAreNoDevicesAreNotListed) {
    const fs::path all = folder_.path / "sys/class/tenstorrent";
    for (const char* name :
         {"tenstorrent", "tenstorrent!", "tenstorrent!x", "tenstorrent!00", "tenstorrent!-1",
          "tenstorrent!4294967296", "tenstorrent!1x", "xtenstorrent!1", "power"}) {
        fs::create_directory(all / name);
    }
    write_file(all / "tenstorrent!5", "a file\n");
    fs::create_directory_symlink("nowhere", all / "tenstorrent!6");
    EXPECT_EQ(read_one().board, "p150a");
}

TEST_F(BrokenTree, ADeviceThatVanishesBetweenTwoLooksIsNotListedAndComesBackWithAHeartNotYetKnown) {
    Heartbeats::Time now{};
    DriverTree reader(tree_.roots(), [&] { return now += std::chrono::seconds(1); });
    ASSERT_THAT(reader.read()->devices, SizeIs(1));
    EXPECT_EQ(reader.read()->devices.at(0).telemetry.is_alive, false);
    fs::rename(tree_.pci(0), folder_.path / "aside");
    ASSERT_TRUE(reader.read());
    EXPECT_THAT(reader.read()->devices, IsEmpty());
    fs::rename(folder_.path / "aside", tree_.pci(0));
    ASSERT_THAT(reader.read()->devices, SizeIs(1));
    EXPECT_EQ(reader.read()->devices.at(0).telemetry.is_alive, false);
    fs::rename(folder_.path / "sys/class/tenstorrent", folder_.path / "aside");
    EXPECT_EQ(reader.read(), nullptr);
    fs::rename(folder_.path / "aside", folder_.path / "sys/class/tenstorrent");
    EXPECT_EQ(reader.read()->devices.at(0).telemetry.is_alive, std::nullopt);
}

// Each value must be either correct or absent, at whatever moment its file is removed.
TEST_F(BrokenTree, ADeviceThatVanishesDuringALookShowsNothingWrong) {
    const DriverDevice whole = read_one();
    std::atomic<bool> is_over{false};
    std::thread taker([&] {
        const fs::path aside = folder_.path / "aside";
        const std::vector<fs::path> places = {tree_.attributes(0), tree_.pci(0), tree_.sensors(0),
                                              tree_.attributes(0) / "tt_aiclk",
                                              tree_.sensors(0) / "temp1_input"};
        for (size_t i = 0; i < 500; ++i) {
            fs::rename(places[i % places.size()], aside);
            std::this_thread::yield();
            fs::rename(aside, places[i % places.size()]);
        }
        is_over = true;
    });
    DriverTree reader(tree_.roots());
    const auto fits = [](const auto& seen, const auto& real) { return !seen || seen == real; };
    bool is_right = true;
    while (!is_over) {
        const auto driver = reader.read();
        for (const DriverDevice& seen : driver->devices) {
            is_right = is_right && seen.id == 0 && fits(seen.asic_id, whole.asic_id) &&
                       fits(seen.arch, whole.arch) && fits(seen.board, whole.board) &&
                       fits(seen.facts.bdf, whole.facts.bdf) &&
                       fits(seen.facts.link.width, whole.facts.link.width) &&
                       fits(seen.telemetry.aiclk_mhz, whole.telemetry.aiclk_mhz) &&
                       fits(seen.telemetry.fan_rpm, whole.telemetry.fan_rpm) &&
                       fits(seen.telemetry.temperature_c, whole.telemetry.temperature_c);
        }
    }
    taker.join();
    EXPECT_TRUE(is_right);
    EXPECT_EQ(read_one(), whole);
}

}  // namespace
}  // namespace ttmem::sources::driver
