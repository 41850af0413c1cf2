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
using stock_region::layout::SlotFigures;

constexpr uint64_t kAsicId = 0xa51c'0000'0000'0001;  // of device 0 in the test trees

uint64_t now_ns() {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

// A child process that sleeps until it is killed.
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

    // Kills the process and leaves it as a zombie.
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

// A simulated host with an n300 and real processes.
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
        writer.add(static_cast<int32_t>(who.pid()), now_ns(), SlotFigures{dram, 0, 0, 0, 0});
        write_region(writer);
    }

    static census::Census census_with(const HostFacts& facts) {
        census::Census census;
        add(facts, census);
        return census;
    }

    driver::TemporaryFolder folder_;
    driver::Tree tree_ = driver::make_tree(folder_.path, driver::Board::n300);
    HostReader host_{folder_.path};
};

TEST_F(HostTest, DevicesHoldersAndRegionsAreAllOfTheRoot) {
    Sleeper holder;
    Sleeper stock;
    see(holder);
    see(stock);
    hold(holder);
    write_region_of(stock, 4096);
    const HostFacts facts = host_.read();
    ASSERT_NE(facts.driver, nullptr);
    ASSERT_EQ(facts.driver->devices.size(), 1u);
    EXPECT_EQ(facts.driver->devices[0].asic_id, kAsicId);
    ASSERT_EQ(facts.driver->holders.size(), 1u);
    EXPECT_EQ(facts.driver->holders[0].identity.pid, holder.pid());
    ASSERT_EQ(facts.totals_only.size(), 1u);
    EXPECT_EQ(facts.totals_only[0].identity.pid, stock.pid());
    EXPECT_TRUE(facts.omissions.empty());
}

TEST_F(HostTest, AnEmptyRootHasNoDriverAndNobody) {
    const driver::TemporaryFolder empty;
    const HostFacts facts = HostReader(empty.path).read();
    EXPECT_EQ(facts.driver, nullptr);
    EXPECT_TRUE(facts.totals_only.empty());
    EXPECT_TRUE(facts.omissions.empty());
    EXPECT_EQ(census_with(facts).driver, nullptr);
}

TEST_F(HostTest, TheRootIsThatOfTheEnvironment) {
    setenv("TTMEM_HOST_ROOT", "/some/where", 1);
    EXPECT_EQ(HostReader::standard_root(), "/some/where");
    unsetenv("TTMEM_HOST_ROOT");
    EXPECT_EQ(HostReader::standard_root(), "");
}

TEST_F(HostTest, AHolderThatHasEndedSinceTheLookHoldsNothing) {
    Sleeper holder;
    see(holder);
    hold(holder);
    const HostFacts facts = host_.read();
    EXPECT_EQ(census_with(facts).driver->holders.size(), 1u);
    holder.kill();
    const census::Census census = census_with(facts);
    EXPECT_TRUE(census.driver->holders.empty());
    EXPECT_EQ(census.driver->devices, facts.driver->devices);
    EXPECT_TRUE(census::compute_figures(census).inexact.empty());
}

TEST_F(HostTest, AStockProcessThatHasEndedSinceTheLookIsInNoFigure) {
    Sleeper stock;
    see(stock);
    hold(stock);
    write_region_of(stock, 4096);
    const HostFacts facts = host_.read();
    EXPECT_EQ(census::compute_figures(census_with(facts)).devices[0].memory[0].used, 4096u);
    stock.kill();
    const census::Figures figures = census::compute_figures(census_with(facts));
    EXPECT_EQ(figures.devices[0].memory[0].used, 0u);
    EXPECT_TRUE(figures.processes.empty());
    EXPECT_TRUE(figures.inexact.empty());
}

TEST_F(HostTest, AHolderWhoseSlotAnotherToolClearedIsUntracked) {
    Sleeper stock;
    see(stock);
    hold(stock);
    write_region_of(stock, 4096);
    EXPECT_EQ(census::compute_figures(census_with(host_.read())).processes.at(0).state,
              census::ProcessState::live);
    write_region(RegionWriter(kAsicId));
    const census::Figures figures = census::compute_figures(census_with(host_.read()));
    EXPECT_EQ(figures.processes.at(0).state, census::ProcessState::untracked);
    ASSERT_EQ(figures.inexact.size(), 1u);
    EXPECT_EQ(figures.inexact[0].reason, census::Reason::untracked);
}

TEST_F(HostTest, AProcessWithALedgerCountsByItAlone) {
    Sleeper both;
    see(both);
    hold(both);
    write_region_of(both, 4096);
    const HostFacts facts = host_.read();
    ASSERT_EQ(facts.totals_only.size(), 1u);
    census::TestSegment segment;
    census::Census census;
    census.processes.push_back(segment.process(both.pid(), facts.totals_only[0].identity.start_time));
    add(facts, census);
    EXPECT_TRUE(census.totals_only.empty());
    const census::Figures figures = census::compute_figures(census);
    ASSERT_EQ(figures.processes.size(), 1u);
    EXPECT_EQ(figures.processes[0].source, census::ProcessSource::segment);
    EXPECT_EQ(figures.devices[0].memory[0].used, 0u);
}

TEST_F(HostTest, ALedgerOfAnEarlierProcessOfTheSameNumberChangesNothing) {
    Sleeper stock;
    see(stock);
    write_region_of(stock, 4096);
    const HostFacts facts = host_.read();
    ASSERT_EQ(facts.totals_only.size(), 1u);
    census::TestSegment segment;
    census::Census census;
    census.processes.push_back(segment.process(stock.pid(), facts.totals_only[0].identity.start_time - 1));
    add(facts, census);
    EXPECT_EQ(census.totals_only.size(), 1u);
}

TEST_F(HostTest, WhatIsWrongWithARegionIsAReasonOfTheHostAndNotOfAProcess) {
    write_region(RegionWriter(kAsicId, 99));
    const census::Figures figures = census::compute_figures(census_with(host_.read()));
    ASSERT_EQ(figures.inexact.size(), 1u);
    EXPECT_EQ(figures.inexact[0].pid, 0u);
    EXPECT_FALSE(figures.inexact[0].is_skipped());
    EXPECT_EQ(figures.inexact[0].reason, census::Reason::stock_region);
    EXPECT_EQ(text_of(figures.inexact[0]), "stock region of ASIC " + std::to_string(kAsicId) +
                                               ": has version 99, and only 3 and 4 are known");
}

TEST_F(HostTest, AClaimOfAnotherUsersRegionIsAReasonOfTheHostUnlessTheProcessHasALedger) {
    if (geteuid() != 0) {
        GTEST_SKIP() << "needs root: it gives a file to another user";
    }
    Sleeper named;
    see(named);
    write_region_of(named, 4096);
    const fs::path region = folder_.path / "dev/shm" / ("tt_device_" + std::to_string(kAsicId) + "_memory");
    ASSERT_EQ(chown(region.c_str(), 65534, 65534), 0);
    const HostFacts facts = host_.read();
    EXPECT_TRUE(facts.totals_only.empty());
    ASSERT_EQ(facts.claims.size(), 1u);
    const census::Figures figures = census::compute_figures(census_with(facts));
    EXPECT_TRUE(figures.processes.empty());
    EXPECT_EQ(figures.devices[0].memory[0].used, 0u);
    ASSERT_EQ(figures.inexact.size(), 1u);
    EXPECT_EQ(figures.inexact[0].pid, 0u);
    EXPECT_EQ(figures.inexact[0].reason, census::Reason::claimed);
    EXPECT_EQ(text_of(figures.inexact[0]), "user " + user_name(65534) + "'s stock region of ASIC " +
                                               std::to_string(kAsicId) + " claims 4096 bytes for process " +
                                               std::to_string(named.pid()));

    census::TestSegment segment;
    census::Census census;
    census.processes.push_back(segment.process(named.pid(), facts.claims[0].process.start_time));
    add(facts, census);
    EXPECT_TRUE(census::compute_figures(census).inexact.empty());
}

TEST_F(HostTest, ADeviceThatVanishesBetweenTwoLooksIsGoneAndSoAreItsHolders) {
    Sleeper holder;
    see(holder);
    hold(holder);
    EXPECT_EQ(host_.read().driver->devices.size(), 1u);
    fs::remove(folder_.path / "sys/class/tenstorrent/tenstorrent!0");
    const HostFacts facts = host_.read();
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
        host_.read();
        EXPECT_FALSE(watch.was_opened());
    }
}

}  // namespace

}  // namespace ttmem::sources
