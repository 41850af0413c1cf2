// SPDX-License-Identifier: Apache-2.0
#include "sources/driver/holders.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/descriptor.hpp"
#include "sources/driver/driver.hpp"
#include "sources/driver/tree_test_support.hpp"

namespace ttmem::sources::driver {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

class Holders : public testing::Test {
protected:
    // Pids in order, with the devices of each.
    std::vector<std::pair<uint32_t, std::vector<uint32_t>>> find() const {
        std::vector<std::pair<uint32_t, std::vector<uint32_t>>> result;
        const auto driver = DriverTree(tree_.roots()).read();
        for (const census::Holder& holder : driver->holders) {
            result.emplace_back(holder.identity.pid, holder.devices);
        }
        return result;
    }

    // Old drivers have no lists of pids.
    void remove_lists() const { fs::remove_all(folder_.path / "proc/driver"); }

    TemporaryFolder folder_;
    Tree tree_ = make_tree(folder_.path, Board::t3000);
};

TEST_F(Holders, AreEachOnceWithTheirDevicesHoweverOftenTheyOpenedThem) {
    tree_.add_process(4712, "b");
    tree_.add_process(4711, "a");
    write_file(tree_.pids(0), "4712\n4711\n4712\n4712\n");
    write_file(tree_.pids(3), "4712\n");
    write_file(tree_.pids(1), "4712\n4712");
    EXPECT_THAT(find(), ElementsAre(Pair(4711, ElementsAre(0)), Pair(4712, ElementsAre(0, 1, 3))));
}

TEST_F(Holders, AreIdentifiedByTheKernelsWords) {
    tree_.add_process(4711, "python3");
    write_file(folder_.path / "proc/4711/cgroup", "0::/docker/" + std::string(64, 'a') + "\n");
    write_file(tree_.pids(2), "4711\n");
    const auto driver = DriverTree(tree_.roots()).read();
    ASSERT_EQ(driver->holders.size(), 1u);
    const census::Identity& identity = driver->holders[0].identity;
    EXPECT_EQ(identity.comm, "python3");
    EXPECT_EQ(identity.inner_pid, 7u);
    EXPECT_EQ(identity.start_time, 250u);
    EXPECT_EQ(identity.container, (census::Container{"docker", std::string(64, 'a'), std::nullopt}));
}

TEST_F(Holders, ThatHaveEndedAreLeftOut) {
    tree_.add_process(4711, "a");
    write_file(tree_.pids(0), "4710\n4711\n4712\n");
    fs::create_directories(folder_.path / "proc/4712");  // a process that is just ending
    EXPECT_THAT(find(), ElementsAre(Pair(4711, ElementsAre(0))));
}

TEST_F(Holders, AreReadFromAmidGarbage) {
    tree_.add_process(4711, "a");
    tree_.add_process(0, "nobody");
    write_file(tree_.pids(0),
               "0\n-4711\n\n\n4711x\n 4711\n99999999999999\n\x1b[2J\n" + std::string(3, '\0') + "\n4711\n");
    EXPECT_THAT(find(), ElementsAre(Pair(4711, ElementsAre(0))));
    write_file(tree_.pids(0), "0\n47 11\n+4711\n0x4711\n");
    EXPECT_THAT(find(), IsEmpty());
}

TEST_F(Holders, OfTenThousandDescriptorsAreFoundInOneLook) {
    std::string list;
    for (int i = 0; i < 10'000; ++i) {
        list += std::to_string(5000 + i % 20) + "\n";
    }
    for (uint32_t pid = 5000; pid < 5010; ++pid) {
        tree_.add_process(pid, "worker");
    }
    write_file(tree_.pids(1), list);
    const auto found = find();
    ASSERT_EQ(found.size(), 10u);
    EXPECT_THAT(found.front(), Pair(5000, ElementsAre(1)));
    EXPECT_THAT(found.back(), Pair(5009, ElementsAre(1)));
}

TEST_F(Holders, AreFoundByTheirDescriptorsWhereTheDriverKeepsNoLists) {
    remove_lists();
    const std::string dev = tree_.roots().dev;
    tree_.add_process(4711, "a", {"/dev/null", dev + "/tenstorrent/2", "socket:[1]", dev + "/tenstorrent/0"});
    tree_.add_process(4712, "b", {dev + "/tenstorrent/0", dev + "/tenstorrent/0"});
    tree_.add_process(4713, "c",
                      {dev + "/tenstorrent/77", dev + "/tenstorrent/", dev + "/tenstorrent/0x",
                       dev + "/tenstorrent/0 (deleted)", "/elsewhere/tenstorrent/0", dev});
    tree_.add_process(4714, "d");
    EXPECT_THAT(find(), ElementsAre(Pair(4711, ElementsAre(0, 2)), Pair(4712, ElementsAre(0))));
}

TEST_F(Holders, AListThatTheDriverKeepsIsBelievedBeforeDescriptors) {
    const std::string dev = tree_.roots().dev;
    tree_.add_process(4711, "a", {dev + "/tenstorrent/0", dev + "/tenstorrent/1"});
    fs::remove(tree_.pids(1));
    EXPECT_THAT(find(), ElementsAre(Pair(4711, ElementsAre(1))));
}

TEST_F(Holders, AListThatDoesNotAnswerIsAsIfThereWereNone) {
    tree_.add_process(4711, "a", {tree_.roots().dev + "/tenstorrent/0"});
    fs::remove(tree_.pids(0));
    fs::create_symlink("/proc/self/mem", tree_.pids(0));
    EXPECT_THAT(find(), ElementsAre(Pair(4711, ElementsAre(0))));
}

TEST_F(Holders, AreFoundWithoutOpeningTheDevice) {
    tree_.add_process(4711, "a", {tree_.node(0)});
    write_file(tree_.pids(0), "4711\n");
    OpenWatch watch(tree_.node(0));
    DriverTree reader(tree_.roots());
    EXPECT_EQ(reader.read()->holders.size(), 1u);
    remove_lists();
    EXPECT_EQ(reader.read()->holders.size(), 1u);
    EXPECT_FALSE(watch.was_opened());

    const base::Descriptor opened(::open(tree_.node(0).c_str(), O_RDONLY | O_CLOEXEC));
    EXPECT_TRUE(watch.was_opened());  // shows that the watch detects an open
}

}  // namespace
}  // namespace ttmem::sources::driver
