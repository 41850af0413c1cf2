// SPDX-License-Identifier: Apache-2.0
#include "sources/proc.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace ttmem::sources {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr auto kStat = " S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 250 20 21\n";
constexpr auto kStatus = "Name:\tx\nUid:\t1\t4000000001\t1\t1\nNSpid:\t4711\t12\t1\n";

// A /proc of plain files.
class MadeUpProc : public testing::Test {
protected:
    void SetUp() override {
        char folder[] = "/tmp/ttmem-proc-XXXXXX";
        ASSERT_NE(mkdtemp(folder), nullptr);
        root_ = folder;
        write("stat", "cpu 1 2\nbtime 1000\nprocesses 5\n");
    }
    void TearDown() override { std::filesystem::remove_all(root_); }

    void write(const std::string& path, const std::string& text) const {
        std::filesystem::create_directories((root_ / path).parent_path());
        std::ofstream(root_ / path) << text;
    }

    void write_process(const std::string& stat, const std::string& status, const std::string& comm) const {
        write("4711/stat", stat);
        write("4711/status", status);
        write("4711/comm", comm);
    }

    std::optional<census::Identity> identify() const {
        const Proc proc(root_);
        const auto folder = proc.open(4711);
        return folder ? proc.identify(4711, *folder) : std::nullopt;
    }

    std::filesystem::path root_;
};

TEST_F(MadeUpProc, IdentifiesAProcess) {
    write_process("4711 (py thon)" + std::string(kStat), kStatus, "py thon\n");
    const auto identity = identify();
    ASSERT_TRUE(identity);
    EXPECT_EQ(identity->pid, 4711u);
    EXPECT_EQ(identity->inner_pid, 1u);
    EXPECT_EQ(identity->start_time, 250u);
    EXPECT_EQ(identity->start_time_ns, 1000'000'000'000 + 250 * (1'000'000'000 / sysconf(_SC_CLK_TCK)));
    EXPECT_EQ(identity->uid, 4000000001u);
    EXPECT_EQ(identity->user, "4000000001");
    EXPECT_EQ(identity->comm, "py thon");
}

TEST_F(MadeUpProc, ACommandCanNotMoveTheCursorNorPretendToBeAnotherField) {
    write_process("4711 (a) S 9 9)" + std::string(kStat), kStatus, "\x1b[2J\r)\nUid: 0\n");
    ASSERT_TRUE(identify());
    EXPECT_EQ(identify()->comm, "?[2J?)");
    EXPECT_EQ(identify()->start_time, 250u);
}

TEST_F(MadeUpProc, WithoutNamespacesTheInnermostPidIsThePid) {
    write_process("4711 (x)" + std::string(kStat), "Uid:\t0\t0\t0\t0\n", "x\n");
    EXPECT_EQ(identify()->inner_pid, 4711u);
    EXPECT_EQ(identify()->user, "root");
}

TEST_F(MadeUpProc, AProcessIsInTheContainerThatItsControlGroupNames) {
    const std::string id(64, 'a');
    write_process("4711 (x)" + std::string(kStat), kStatus, "x\n");
    ASSERT_TRUE(identify());
    EXPECT_EQ(identify()->container, std::nullopt);
    write("4711/cgroup", "0::/user.slice\n");
    EXPECT_EQ(identify()->container, std::nullopt);
    write("4711/cgroup", "0::/system.slice/docker-" + id + ".scope\n");
    EXPECT_EQ(identify()->container, (census::Container{"docker", id, std::nullopt}));
}

TEST_F(MadeUpProc, IncompleteOrGarbageEntriesAreNoProcess) {
    EXPECT_EQ(identify(), std::nullopt);
    write("4711/stat", "4711 (x)" + std::string(kStat));
    EXPECT_EQ(identify(), std::nullopt);
    write_process("4711 (x)" + std::string(kStat), "", "x\n");
    EXPECT_EQ(identify(), std::nullopt);
    write_process("garbage", kStatus, "x\n");
    EXPECT_EQ(identify(), std::nullopt);
    write_process("4711 (x)" + std::string(kStat), "Uid:\tx\ty\nNSpid:\tz\n", "x\n");
    EXPECT_EQ(identify(), std::nullopt);
    write_process("4711 (x)" + std::string(kStat), "Uid:", "");
    EXPECT_EQ(identify(), std::nullopt);
}

TEST_F(MadeUpProc, PidsAreTheFoldersThatAreNumbers) {
    write("12/stat", "");
    write("7/stat", "");
    write("self/stat", "");
    write("7x/stat", "");
    EXPECT_THAT(Proc(root_).pids(), ElementsAre(7, 12));
}

TEST_F(MadeUpProc, ThatIsNotThereIsEmpty) { EXPECT_THAT(Proc(root_ / "nowhere").pids(), IsEmpty()); }

TEST(Proc, KnowsThisProcess) {
    const Proc proc;
    const auto pid = static_cast<uint32_t>(getpid());
    EXPECT_THAT(proc.pids(), Contains(pid));
    const auto folder = proc.open(pid);
    ASSERT_TRUE(folder);
    const auto identity = proc.identify(pid, *folder);
    ASSERT_TRUE(identity);
    EXPECT_EQ(identity->uid, geteuid());
    EXPECT_EQ(identity->comm, "sources_test");
    EXPECT_GT(identity->start_time, 0u);
}

TEST(Proc, AFolderHeldOpenNeverBecomesAnotherProcess) {
    const pid_t child = fork();
    if (child == 0) {
        pause();
        _exit(0);
    }
    const Proc proc;
    const auto folder = proc.open(static_cast<uint32_t>(child));
    ASSERT_TRUE(folder);
    EXPECT_TRUE(folder->read("stat"));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    EXPECT_FALSE(folder->read("stat"));
    EXPECT_THAT(folder->numbers_in("fd"), IsEmpty());
}

}  // namespace
}  // namespace ttmem::sources
