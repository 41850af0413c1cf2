// SPDX-License-Identifier: Apache-2.0
#include "sources/stock_region/regions.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/inotify.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <iterator>

#include "base/descriptor.hpp"
#include "sources/stock_region/region_writer_test_support.hpp"

namespace ttmem::sources::stock_region {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class StockRegions : public MadeUpHost {
protected:
    FoundTotals scan() const { return discover(Proc(proc()), shm()); }

    std::vector<uint32_t> pids() const {
        std::vector<uint32_t> result;
        for (const auto& process : scan().processes) {
            result.push_back(process.identity.pid);
        }
        return result;
    }

    std::vector<std::string> problems() const {
        std::vector<std::string> result;
        for (const auto& problem : scan().problems) {
            result.push_back(problem.text);
        }
        return result;
    }
};

TEST_F(StockRegions, PutTheSlotsOfOneProcessTogether) {
    write_process(11);
    write_process(12);
    RegionWriter first(9);
    first.raw.logical_id = 1;
    first.add(12, at(20), {100, 0, 0, 0, 0});
    first.add(11, at(20), {1, 2, 3, 4, 5});
    RegionWriter second(10);
    second.add(11, at(20), {10, 20, 30, 40, 50});
    write_region(second);
    write_region(first);
    const FoundTotals found = scan();
    EXPECT_THAT(found.problems, IsEmpty());
    ASSERT_EQ(found.processes.size(), 2u);
    EXPECT_EQ(found.processes[0].identity.pid, 11u);
    EXPECT_THAT(found.processes[0].devices, ElementsAre(census::DeviceTotals{9, 1, {1, 2, 3, 4}},
                                                        census::DeviceTotals{10, 0, {10, 20, 30, 40}}));
    EXPECT_EQ(found.processes[1].identity.pid, 12u);
    EXPECT_THAT(found.processes[1].devices, ElementsAre(census::DeviceTotals{9, 1, {100, 0, 0, 0}}));
}

TEST_F(StockRegions, CircularBuffersAndKernelsHaveNoFigure) {
    write_process(11);
    RegionWriter writer(9);
    writer.add(11, at(20), {1, 2, 3, 4, 5});
    write_region(writer);
    const auto requested = scan().processes.at(0).devices.at(0).requested;
    EXPECT_EQ(requested[census::index_of(census::Kind::cb)], std::nullopt);
    EXPECT_EQ(requested[census::index_of(census::Kind::kernel)], std::nullopt);
}

TEST_F(StockRegions, CircularBuffersAreLabelledByTheVersionOfTheRegion) {
    write_process(11);
    for (const auto& [version, of] :
         {std::pair(layout::kVersion3, "of all cached programs"),
          std::pair(layout::kVersion4, "of the programs that were launched last")}) {
        RegionWriter writer(9, version);
        writer.add(11, at(20), {0, 0, 0, 0, 5});  // programs and no buffers
        write_region(writer);
        const FoundTotals found = scan();
        ASSERT_EQ(found.processes.size(), 1u);
        EXPECT_THAT(found.processes[0].lacks, HasSubstr("region version " + std::to_string(version)));
        EXPECT_THAT(found.processes[0].lacks, HasSubstr(of));
    }
}

TEST_F(StockRegions, AProcessThatHoldsNothingIsListedForItHasTheDeviceOpen) {
    write_process(11);
    RegionWriter writer(9);
    writer.add(11, at(20));
    write_region(writer);
    EXPECT_THAT(scan().processes.at(0).devices, ElementsAre(census::DeviceTotals{9, 0, {0, 0, 0, 0}}));
}

TEST_F(StockRegions, ASlotOfADeadProcessIsIgnored) {
    RegionWriter writer(9);
    writer.add(11, at(20), {1, 2, 3, 4, 5});
    write_region(writer);
    const FoundTotals found = scan();
    EXPECT_THAT(found.processes, IsEmpty());
    EXPECT_THAT(found.problems, IsEmpty());
    EXPECT_EQ(found.left_over_slots, 1u);
}

TEST_F(StockRegions, APidThatWasGivenToAnotherIsNotItsFormerOwner) {
    RegionWriter writer(9);
    writer.add(11, at(20), {1, 2, 3, 4, 5});
    write_region(writer);
    write_process(11, {.start_seconds = 20});
    EXPECT_THAT(pids(), ElementsAre(11));
    write_process(11, {.start_seconds = 21});
    EXPECT_THAT(pids(), IsEmpty());
    EXPECT_EQ(scan().left_over_slots, 1u);
}

TEST_F(StockRegions, AnUpdateMayAppearOlderThanItsProcessByOneTick) {
    const uint64_t tick = kSecond / static_cast<uint64_t>(sysconf(_SC_CLK_TCK));
    write_process(11, {.start_seconds = 20});
    RegionWriter writer(9);
    writer.add(11, at(20) - tick);
    write_region(writer);
    EXPECT_THAT(pids(), ElementsAre(11));
    --writer.raw.slots[0].last_update_ns;
    write_region(writer);
    EXPECT_THAT(pids(), IsEmpty());
}

TEST_F(StockRegions, AZombieHoldsNothing) {
    RegionWriter writer(9);
    writer.add(11, at(20), {1, 2, 3, 4, 5});
    write_region(writer);
    write_process(11, {.state = "Z"});
    EXPECT_THAT(pids(), IsEmpty());
    write_process(11, {.state = "Z", .threads = 2});
    EXPECT_THAT(pids(), ElementsAre(11));
}

TEST_F(StockRegions, ANumberThatIsAnotherProcessHereIsNotTheOneInAContainer) {
    RegionWriter writer(9);
    writer.add(11, at(20), {1, 2, 3, 4, 5});
    write_region(writer);
    write_process(11, {.inner_pid = 4});
    EXPECT_THAT(pids(), IsEmpty());
    write_process(11, {.flags = 0x00200040});  // a kernel thread
    EXPECT_THAT(pids(), IsEmpty());
}

TEST_F(StockRegions, ASlotOfAnotherUsersProcessIsAClaimWithItsAuthor) {
    RegionWriter writer(9);
    writer.add(11, at(20), {1, 2, 3, 4, 5});
    writer.add(12, at(20), {100, 0, 0, 0, 0});
    write_region(writer);
    write_process(11, {.uid = geteuid() + 1});
    write_process(12);
    for (const mode_t mode : {0600u, 0660u, 0666u}) {
        ASSERT_EQ(chmod(region_path(9).c_str(), mode), 0);
        EXPECT_THAT(pids(), ElementsAre(12)) << "the owner's own process counts";
        const FoundTotals found = scan();
        EXPECT_THAT(found.problems, IsEmpty());
        ASSERT_THAT(found.claims, SizeIs(1));
        EXPECT_EQ(found.claims[0].author, geteuid());
        EXPECT_EQ(found.claims[0].process.pid, 11u);
        EXPECT_EQ(found.claims[0].bytes, 10u);
        EXPECT_EQ(found.claims[0].text(), "user " + user_name(geteuid()) +
                                              "'s stock region of ASIC 9 claims 10 bytes for process 11");
        EXPECT_THAT(found.further_claims, IsEmpty());
    }
    write_process(11, {.uid = geteuid()});
    EXPECT_THAT(pids(), ElementsAre(11, 12));
    EXPECT_THAT(scan().claims, IsEmpty());
}

TEST_F(StockRegions, OfAnUnprivilegedUserSayNothingAboutRoot) {
    if (geteuid() != 0) {
        GTEST_SKIP() << "needs root: it gives a file to another user";
    }
    constexpr uid_t kNobody = 65534;
    RegionWriter writer(9);
    writer.add(1, at(20), {uint64_t{30} << 30, 0, 0, 0, 0});
    writer.add(12, at(20), {7, 0, 0, 0, 0});
    write_region(writer);
    ASSERT_EQ(chown(region_path(9).c_str(), kNobody, kNobody), 0);
    write_process(1, {.uid = 0});
    write_process(12, {.uid = kNobody});
    EXPECT_THAT(pids(), ElementsAre(12));
    const FoundTotals found = scan();
    ASSERT_THAT(found.claims, SizeIs(1));
    EXPECT_EQ(found.claims[0].author, kNobody);
    EXPECT_EQ(found.claims[0].process.pid, 1u);
    EXPECT_EQ(found.claims[0].bytes, uint64_t{30} << 30);
}

TEST_F(StockRegions, AClaimIsMadeOncePerRegionAndProcess) {
    RegionWriter writer(9);
    writer.add(11, at(20), {1, 0, 0, 0, 0});
    writer.add(11, at(20), {2, 0, 0, 0, static_cast<uint64_t>(-1)});
    writer.add(12, at(20), {5, 0, 0, 0, 0});  // has ended, so not even a claim
    write_region(writer);
    write_process(11, {.uid = geteuid() + 1});
    const FoundTotals found = scan();
    ASSERT_THAT(found.claims, SizeIs(1));
    EXPECT_EQ(found.claims[0].bytes, 3u);
    EXPECT_EQ(found.left_over_slots, 1u);
}

TEST_F(StockRegions, ManyClaimsOfOneUserAreSummed) {
    RegionWriter writer(9);
    for (uint32_t i = 0; i < kMostClaimsPerUser + 3; ++i) {
        writer.add(static_cast<int32_t>(100 + i), at(20), {10, 0, 0, 0, 0});
        write_process(100 + i, {.uid = geteuid() + 1});
    }
    write_region(writer);
    const FoundTotals found = scan();
    EXPECT_THAT(found.claims, SizeIs(kMostClaimsPerUser));
    ASSERT_THAT(found.further_claims, SizeIs(1));
    EXPECT_EQ(found.further_claims[0].text(),
              "user " + user_name(geteuid()) + "'s stock regions claim 30 bytes for 3 further processes");
}

TEST_F(StockRegions, NameAtMostSoManyProcesses) {
    uint32_t pid = 1000;
    for (uint64_t asic_id = 0; asic_id < 5; ++asic_id) {
        RegionWriter writer(asic_id);
        for (size_t slot = 0; slot < layout::kSlots; ++slot) {
            write_process(pid);
            writer.add(static_cast<int32_t>(pid++), at(20));
        }
        write_region(writer);
    }
    EXPECT_THAT(pids(), SizeIs(kMostProcessesPerUser));
    EXPECT_THAT(problems(), ElementsAre("stock regions: those of user " + user_name(geteuid()) +
                                        " name more than 256 processes, 64 slots left out"));
}

TEST_F(StockRegions, AWriterThatCrashedInTheMiddleLeavesNothing) {
    write_process(11);
    RegionWriter writer(9);
    writer.add(11, 0, {}, "");  // the writer stores the pid first
    write_region(writer);
    EXPECT_THAT(pids(), IsEmpty());
    EXPECT_THAT(problems(), IsEmpty());
    RegionWriter unversioned(10, 0);
    unversioned.add(11, at(20));
    write_region(unversioned);
    write_bytes(region_path(12), {});
    EXPECT_THAT(pids(), IsEmpty());
    EXPECT_THAT(problems(), IsEmpty());
}

TEST_F(StockRegions, SixtyFourProcessesFillARegion) {
    RegionWriter writer(9);
    for (uint32_t i = 0; i < 64; ++i) {
        write_process(100 + i);
        writer.add(static_cast<int32_t>(100 + i), at(20), {i, 0, 0, 0, 0});
    }
    write_region(writer);
    const FoundTotals found = scan();
    ASSERT_EQ(found.processes.size(), 64u);
    for (uint32_t i = 0; i < 64; ++i) {
        EXPECT_EQ(found.processes[i].identity.pid, 100 + i);
        EXPECT_EQ(found.processes[i].devices.at(0).requested[0], i);
    }
}

TEST_F(StockRegions, OfVersion4CountOnlySlotsThatAreNotBeingReleased) {
    write_process(11);
    write_process(12);
    RegionWriter writer(9, layout::kVersion4);
    writer.add(layout::kBeingReleased, at(20), {7, 7, 7, 7, 7});
    writer.add(12, at(20), {1, 2, 3, 4, 5});
    write_region(writer);
    EXPECT_THAT(pids(), ElementsAre(12));
    writer.raw.init_state = 0;
    write_region(writer);
    EXPECT_THAT(pids(), IsEmpty());
    EXPECT_THAT(problems(), IsEmpty());
}

TEST_F(StockRegions, AFigureThatWrappedIsAbsentAndReported) {
    write_process(11);
    RegionWriter writer(9);
    writer.add(11, at(20), {static_cast<uint64_t>(-1), 2, 3, 4, 5});
    writer.add(12, at(20), {static_cast<uint64_t>(-1), 2, 3, 4, 5});  // ended, so not reported
    write_region(writer);
    EXPECT_THAT(scan().processes.at(0).devices,
                ElementsAre(census::DeviceTotals{9, 0, {std::nullopt, 2, 3, 4}}));
    EXPECT_THAT(problems(), ElementsAre("stock region of ASIC 9: 1 figures that can't be true, left out"));
}

TEST_F(StockRegions, AProcessWithTwoSlotsInOneHasNoFiguresThere) {
    write_process(11);
    RegionWriter writer(9);
    writer.add(11, at(20), {1, 2, 3, 4, 5});
    writer.add(11, at(21), {6, 7, 8, 9, 10});
    write_region(writer);
    EXPECT_THAT(scan().processes.at(0).devices, ElementsAre(census::DeviceTotals{9, 0, {}}));
    EXPECT_THAT(problems(), ElementsAre(HasSubstr("1 extra slots")));
}

TEST_F(StockRegions, BadRegionsAreReportedAndTheOthersCount) {
    write_process(11);
    RegionWriter good(5);
    good.add(11, at(20));
    write_region(good);
    auto bytes = good.bytes();
    bytes.resize(8575);
    write_bytes(region_path(1), bytes);
    bytes.resize(8577);
    write_bytes(region_path(2), bytes);
    write_region(RegionWriter(3, 2));
    write_region(RegionWriter(4, 99));
    write_bytes(region_path(7), good.bytes());
    EXPECT_THAT(pids(), ElementsAre(11));
    EXPECT_THAT(problems(), ElementsAre("stock region of ASIC 1: has 8575 bytes, and a region has 8576",
                                        "stock region of ASIC 2: has 8577 bytes, and a region has 8576",
                                        "stock region of ASIC 3: has version 2, and only 3 and 4 are known",
                                        "stock region of ASIC 4: has version 99, and only 3 and 4 are known",
                                        "stock region of ASIC 7: names ASIC 5"));
    EXPECT_EQ(scan().processes[0].devices.size(), 1u);
}

TEST_F(StockRegions, ARegionThatDoesNotSayItsAsicIdHasThatOfItsName) {
    write_process(11);
    RegionWriter writer(0);
    writer.add(11, at(20));
    write_bytes(region_path(8), writer.bytes());
    EXPECT_EQ(scan().processes.at(0).devices.at(0).asic_id, 8u);
    EXPECT_THAT(problems(), IsEmpty());
}

TEST_F(StockRegions, FilesThatAreNotRegularAreNeitherFollowedNorWaitedFor) {
    write_process(11);
    RegionWriter writer(1);
    writer.add(11, at(20));
    write_bytes(root_ / "elsewhere", writer.bytes());
    std::filesystem::create_symlink(root_ / "elsewhere", region_path(1));
    ASSERT_EQ(mkfifo(region_path(2).c_str(), 0600), 0);
    std::filesystem::create_directory(region_path(3));
    EXPECT_THAT(pids(), IsEmpty());
    EXPECT_THAT(problems(), ElementsAre("stock region of ASIC 1: is a symbolic link",
                                        "stock region of ASIC 2: is not a regular file",
                                        "stock region of ASIC 3: is not a regular file"));
}

TEST_F(StockRegions, TheRegionOfAnotherUserNeedsRoot) {
    RegionWriter writer(9);
    write_region(writer);
    ASSERT_EQ(chmod(region_path(9).c_str(), 0), 0);
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {  // root may read every file, so the child changes its user
        const bool is_nobody = geteuid() != 0 || setresuid(65534, 65534, 65534) == 0;
        std::string text;
        for (const auto& problem : is_nobody ? scan().problems : std::vector<Problem>{}) {
            text += problem.text;
        }
        _exit(::write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size()) ? 0 : 1);
    }
    ::close(ends[1]);
    std::string text(1000, '\0');
    text.resize(static_cast<size_t>(std::max<ssize_t>(::read(ends[0], text.data(), text.size()), 0)));
    ::close(ends[0]);
    waitpid(child, nullptr, 0);
    EXPECT_EQ(text, "stock region of ASIC 9: permission denied (run ttmemd as root)");
}

TEST(StockRegionFile, ThatDoesNotOpenIsReportedWithItsCause) {
    EXPECT_EQ(open_problem(7, EACCES).text, "stock region of ASIC 7: permission denied (run ttmemd as root)");
    EXPECT_EQ(open_problem(7, EMFILE).text, "stock region of ASIC 7: Too many open files");
    EXPECT_EQ(open_problem(7, EMFILE).asic_id, 7u);
}

TEST(StockRegionFile, IsKnownByItsName) {
    EXPECT_EQ(asic_id_of("tt_device_0_memory"), 0u);
    EXPECT_EQ(asic_id_of("tt_device_18446744073709551615_memory"), 18446744073709551615u);
    for (const char* name :
         {"", "tt_device__memory", "tt_device_memory", "tt_device_007_memory", "tt_device_-7_memory",
          "tt_device_7_memory2", "att_device_7_memory", "tt_device_7x_memory", "tt_device_ 7_memory",
          "tt_device_18446744073709551616_memory", "tt_device_0x7_memory", "tt_device_7"}) {
        EXPECT_EQ(asic_id_of(name), std::nullopt) << name;
    }
}

TEST_F(StockRegions, BeyondTheShareOfAUserAreNotReadAndThatIsReported) {
    for (uint64_t i = 0; i < kMostRegionsPerUser; ++i) {
        write_region(RegionWriter(i));
    }
    EXPECT_THAT(problems(), IsEmpty());
    write_region(RegionWriter(kMostRegionsPerUser));
    EXPECT_THAT(problems(),
                ElementsAre("stock regions: user " + user_name(geteuid()) + " has 65, and 64 are read"));
}

TEST_F(StockRegions, OfOneUserKeepOutNoneOfAnother) {
    if (geteuid() != 0) {
        GTEST_SKIP() << "needs root: it gives files to another user";
    }
    constexpr uid_t kNobody = 65534;
    for (uint64_t i = 0; i < 3 * kMostRegionsPerUser; ++i) {
        write_region(RegionWriter(i));
        ASSERT_EQ(chown(region_path(i).c_str(), kNobody, kNobody), 0);
    }
    write_process(11);
    RegionWriter writer(999);
    writer.add(11, at(20), {1, 2, 3, 4, 5});
    write_region(writer);
    EXPECT_THAT(pids(), ElementsAre(11));
}

TEST_F(StockRegions, AFolderThatIsNotThereHasNone) {
    const FoundTotals found = discover(Proc(proc()), shm() + "/nowhere");
    EXPECT_THAT(found.processes, IsEmpty());
    EXPECT_THAT(found.problems, IsEmpty());
    EXPECT_THAT(discover(Proc(proc()), root_ / "proc/stat").problems, SizeIs(1));
}

TEST_F(StockRegions, AreOnlyRead) {
    write_process(11);
    RegionWriter writer(9);
    writer.add(11, at(20), {1, 2, 3, 4, 5});
    writer.add(12, at(20), {1, 2, 3, 4, 5});
    write_region(writer);
    struct stat before {};
    ASSERT_EQ(stat(region_path(9).c_str(), &before), 0);
    const base::Descriptor watch(inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
    ASSERT_GE(inotify_add_watch(watch.get(), region_path(9).c_str(), IN_ALL_EVENTS), 0);

    EXPECT_THAT(pids(), ElementsAre(11));

    // The close event shows whether the descriptor was open for writing.
    alignas(inotify_event) char events[4096];
    const ssize_t length = ::read(watch.get(), events, sizeof events);
    ASSERT_GT(length, 0);
    uint32_t seen = 0;
    for (ssize_t place = 0; place < length;) {
        inotify_event event{};
        std::memcpy(&event, events + place, sizeof event);
        seen |= event.mask;
        place += static_cast<ssize_t>(sizeof event + event.len);
    }
    EXPECT_EQ(seen, uint32_t{IN_OPEN | IN_ACCESS | IN_CLOSE_NOWRITE});
    struct stat after {};
    ASSERT_EQ(stat(region_path(9).c_str(), &after), 0);
    EXPECT_EQ(before.st_mtim.tv_sec, after.st_mtim.tv_sec);
    EXPECT_EQ(before.st_mtim.tv_nsec, after.st_mtim.tv_nsec);
    std::ifstream file(region_path(9), std::ios::binary);
    const std::vector<char> text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    EXPECT_EQ(std::vector<unsigned char>(text.begin(), text.end()), writer.bytes());
}

TEST_F(StockRegions, ARealProcessCountsUntilItEnds) {
    const pid_t child = fork();
    if (child == 0) {
        pause();
        _exit(0);
    }
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    RegionWriter writer(9);
    writer.add(child, static_cast<uint64_t>(std::chrono::nanoseconds(now).count()), {1, 2, 3, 4, 5});
    write_region(writer);
    const Proc real;
    EXPECT_THAT(discover(real, shm()).processes, SizeIs(1));
    kill(child, SIGKILL);
    siginfo_t info{};
    ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT), 0);  // a zombie from here on
    EXPECT_THAT(discover(real, shm()).processes, IsEmpty());
    waitpid(child, nullptr, 0);
    EXPECT_THAT(discover(real, shm()).processes, IsEmpty());
}

}  // namespace
}  // namespace ttmem::sources::stock_region
