// SPDX-License-Identifier: Apache-2.0
#include "sources/host.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <utility>

#include "census/figures.hpp"
#include "census/segment_test_support.hpp"
#include "sources/driver/tree_test_support.hpp"
#include "sources/stock_region/region_writer_test_support.hpp"

namespace ttmem::sources {

namespace {

namespace fs = std::filesystem;
using stock_region::RegionWriter;
using stock_region::layout::Figures;

constexpr uint64_t kAsicId = 0xa51c'0000'0000'0001;  // of device 0 of the trees

uint64_t now_ns() {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

// A process of our own that does nothing until it is killed.
class Sleeper {
public:
    Sleeper() : pid_(fork()) {
        while (pid_ == 0) {
            pause();
        }
    }
    Sleeper(const Sleeper&) = delete;
    Sleeper& operator=(const Sleeper&) = delete;
    ~Sleeper() { reap(); }

    uint32_t pid() const { return static_cast<uint32_t>(pid_); }

    // It has ended, and is a zombie.
    void kill() const {
        ::kill(pid_, SIGKILL);
        siginfo_t info;
        waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT);
    }
    void reap() {
        if (pid_ > 0) {
            ::kill(pid_, SIGKILL);
            waitpid(std::exchange(pid_, 0), nullptr, 0);
        }
    }

private:
    pid_t pid_;
};

// A made-up host with an n300 and real processes.
class HostTest : public testing::Test {
protected:
    void SetUp() override {
        fs::remove(folder_.path / "proc/stat");
        fs::create_symlink("/proc/stat", folder_.path / "proc/stat");
        fs::create_directories(folder_.path / "dev/shm");
    }

    void see(const Sleeper& who) const {
        const std::string number = std::to_string(who.pid());
        fs::create_directory_symlink("/proc/" + number, folder_.path / "proc" / number);
    }
    void hold(const Sleeper& who) const {
        driver::write_file(tree_.pids(0), std::to_string(who.pid()) + "\n");
    }
    void write_region(const RegionWriter& writer) const {
        const auto bytes = writer.bytes();
        driver::write_file(
            folder_.path / "dev/shm" / ("tt_device_" + std::to_string(writer.raw.asic_id) + "_memory"),
            std::string(bytes.begin(), bytes.end()));
    }
    void write_region_of(const Sleeper& who, uint64_t dram) const {
        RegionWriter writer(kAsicId);
        writer.add(static_cast<int32_t>(who.pid()), now_ns(), Figures{dram, 0, 0, 0, 0});
        write_region(writer);
    }

    static census::Census census_with(const HostFacts& facts) {
        census::Census census;
        add(facts, census);
        return census;
    }

    driver::TemporaryFolder folder_;
    driver::Tree tree_ = driver::make_tree(folder_.path, driver::Board::n300);
    Host host_{folder_.path};
};

TEST_F(HostTest, DevicesHoldersAndRegionsAreAllOfTheRoot) {
    Sleeper holder;
    Sleeper stock;
    see(holder);
    see(stock);
    hold(holder);
    write_region_of(stock, 4096);
    const HostFacts facts = host_.look();
    ASSERT_NE(facts.driver, nullptr);
    ASSERT_EQ(facts.driver->devices.size(), 1u);
    EXPECT_EQ(facts.driver->devices[0].asic_id, kAsicId);
    ASSERT_EQ(facts.driver->holders.size(), 1u);
    EXPECT_EQ(facts.driver->holders[0].identity.pid, holder.pid());
    ASSERT_EQ(facts.totals_only.size(), 1u);
    EXPECT_EQ(facts.totals_only[0].identity.pid, stock.pid());
    EXPECT_TRUE(facts.skipped.empty());
}

TEST_F(HostTest, AnEmptyRootHasNoDriverAndNobody) {
    const driver::TemporaryFolder empty;
    const HostFacts facts = Host(empty.path).look();
    EXPECT_EQ(facts.driver, nullptr);
    EXPECT_TRUE(facts.totals_only.empty());
    EXPECT_TRUE(facts.skipped.empty());
    EXPECT_EQ(census_with(facts).driver, nullptr);
}

TEST_F(HostTest, TheRootIsThatOfTheEnvironment) {
    setenv("TTMEM_HOST_ROOT", "/some/where", 1);
    EXPECT_EQ(Host::standard_root(), "/some/where");
    unsetenv("TTMEM_HOST_ROOT");
    EXPECT_EQ(Host::standard_root(), "");
}

TEST_F(HostTest, AHolderThatHasEndedSinceTheLookHoldsNothing) {
    Sleeper holder;
    see(holder);
    hold(holder);
    const HostFacts facts = host_.look();
    EXPECT_EQ(census_with(facts).driver->holders.size(), 1u);
    holder.kill();
    const census::Census census = census_with(facts);
    EXPECT_TRUE(census.driver->holders.empty());
    EXPECT_EQ(census.driver->devices, facts.driver->devices);
    EXPECT_TRUE(census::count(census).inexact.empty());
}

TEST_F(HostTest, AStockProcessThatHasEndedSinceTheLookIsInNoFigure) {
    Sleeper stock;
    see(stock);
    hold(stock);
    write_region_of(stock, 4096);
    const HostFacts facts = host_.look();
    EXPECT_EQ(census::count(census_with(facts)).devices[0].memory[0].used, 4096u);
    stock.kill();
    const census::Figures figures = census::count(census_with(facts));
    EXPECT_EQ(figures.devices[0].memory[0].used, 0u);
    EXPECT_TRUE(figures.processes.empty());
    EXPECT_TRUE(figures.inexact.empty());
}

TEST_F(HostTest, AProcessWithALedgerCountsByItAlone) {
    Sleeper both;
    see(both);
    hold(both);
    write_region_of(both, 4096);
    const HostFacts facts = host_.look();
    ASSERT_EQ(facts.totals_only.size(), 1u);
    census::TestSegment segment;
    census::Census census;
    census.processes.push_back(segment.process(both.pid(), facts.totals_only[0].identity.start_time));
    add(facts, census);
    EXPECT_TRUE(census.totals_only.empty());
    const census::Figures figures = census::count(census);
    ASSERT_EQ(figures.processes.size(), 1u);
    EXPECT_EQ(figures.processes[0].source, "segment");
    EXPECT_EQ(figures.devices[0].memory[0].used, 0u);
}

TEST_F(HostTest, ALedgerOfAnEarlierProcessOfTheSameNumberChangesNothing) {
    Sleeper stock;
    see(stock);
    write_region_of(stock, 4096);
    const HostFacts facts = host_.look();
    ASSERT_EQ(facts.totals_only.size(), 1u);
    census::TestSegment segment;
    census::Census census;
    census.processes.push_back(segment.process(stock.pid(), facts.totals_only[0].identity.start_time - 1));
    add(facts, census);
    EXPECT_EQ(census.totals_only.size(), 1u);
}

TEST_F(HostTest, WhatIsWrongWithARegionIsAReasonOfTheHostAndNotOfAProcess) {
    write_region(RegionWriter(kAsicId, 99));
    const census::Figures figures = census::count(census_with(host_.look()));
    ASSERT_EQ(figures.inexact.size(), 1u);
    EXPECT_EQ(figures.inexact[0].pid, 0u);
    EXPECT_FALSE(figures.inexact[0].skipped);
    EXPECT_EQ(figures.inexact[0].reason, "stock region of ASIC " + std::to_string(kAsicId) +
                                             ": has version 99, and only 3 and 4 are known");
}

TEST_F(HostTest, ADeviceThatVanishesBetweenTwoLooksIsGoneAndSoAreItsHolders) {
    Sleeper holder;
    see(holder);
    hold(holder);
    EXPECT_EQ(host_.look().driver->devices.size(), 1u);
    fs::remove(folder_.path / "sys/class/tenstorrent/tenstorrent!0");
    const HostFacts facts = host_.look();
    ASSERT_NE(facts.driver, nullptr);
    EXPECT_TRUE(facts.driver->devices.empty());
    EXPECT_TRUE(facts.driver->holders.empty());
}

TEST_F(HostTest, TheDeviceIsNeverOpened) {
    Sleeper holder;
    see(holder);
    driver::OpenWatch watch(tree_.node(0));
    for (const bool has_list : {true, false}) {
        if (!has_list) {
            fs::remove(tree_.pids(0));
        }
        host_.look();
        EXPECT_FALSE(watch.was_opened());
    }
}

}  // namespace

}  // namespace ttmem::sources
