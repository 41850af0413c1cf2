// SPDX-License-Identifier: Apache-2.0
#include "sources/segments/discover.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <thread>

#include "base/pidfd.hpp"
#include "base/proc_stat.hpp"
#include "census/segment_test_support.hpp"
#include "ttmem/ttmem.h"

namespace ttmem::sources::segments {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

// A process that runs `prepare` and then lives until this object is destroyed. Other tracked processes may run on this
// host, so tests check only their own.
class LivingProcess {
public:
    explicit LivingProcess(const std::function<void()>& prepare) {
        int ready[2];
        int end[2];
        EXPECT_EQ(pipe(ready) | pipe(end), 0);
        pid_ = fork();
        if (pid_ == 0) {
            close(end[1]);
            prepare();
            const char byte = 1;
            char unused = 0;
            _exit(write(ready[1], &byte, 1) == 1 && read(end[0], &unused, 1) == 0 ? 0 : 1);
        }
        close(ready[1]);
        close(end[0]);
        end_ = end[1];
        char byte = 0;
        EXPECT_EQ(read(ready[0], &byte, 1), 1) << "the process did not get ready";
        close(ready[0]);
    }
    ~LivingProcess() { finish(); }
    LivingProcess(const LivingProcess&) = delete;
    LivingProcess& operator=(const LivingProcess&) = delete;

    uint32_t pid() const { return static_cast<uint32_t>(pid_); }

    void finish() {
        if (pid_ > 0) {
            close(end_);
            waitpid(pid_, nullptr, 0);
            pid_ = 0;
        }
    }

private:
    pid_t pid_ = 0;
    int end_ = -1;
};

void track_something() {
    setenv("TT_ALLOC_TRACKING_ENABLED", "1", 1);
    setenv("TTMEM_RUNTIME_DIR", "/nonexistent", 1);
    ttmem_device_info info = census::small_chip(0x10, 0);
    const ttmem_device device = ttmem_register_device(&info);
    const ttmem_set set = ttmem_open_set(&device, 1, "device 0");
    ttmem_allocate(set, TTMEM_DRAM, 0x1000, 390, 400, 1);
}

struct Seen {
    std::vector<const census::Process*> processes;
    std::vector<std::string> skipped;
};

Seen seen_of(const census::Census& census, uint32_t pid) {
    Seen seen;
    for (const census::Process& process : census.processes) {
        if (process.identity.pid == pid) {
            seen.processes.push_back(&process);
        }
    }
    for (const census::Omission& omission : census.omissions) {
        if (omission.pid == pid) {
            seen.skipped.push_back(text_of(omission.inexactness()));
        }
    }
    return seen;
}

census::Census scan() { return census_of(discover(Proc())); }

uint64_t own_start_time() {
    const auto text = Proc().open(static_cast<uint32_t>(getpid()))->read("stat");
    return base::parse_start_time(text->data(), text->size());
}

constexpr int kAllSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL;

// Creates a segment by hand, which stays open in this process.
int forge(const std::function<void(segment::Header&)>& change, int seals = kAllSeals, size_t size_more = 0) {
    census::TestSegment bytes;
    bytes.header().pid = static_cast<uint32_t>(getpid());
    bytes.header().start_time = own_start_time();
    change(bytes.header());
    const int file = memfd_create("ttmem", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    const bool written = write(file, bytes.bytes(), bytes.size()) == static_cast<ssize_t>(bytes.size());
    const bool sized = ftruncate(file, static_cast<off_t>(bytes.size() + size_more)) == 0;
    const bool sealed = seals == 0 || fcntl(file, F_ADD_SEALS, seals) == 0;
    if (!written || !sized || !sealed) {
        _exit(1);
    }
    return file;
}

std::vector<std::string> lines_about(const std::function<void()>& prepare) {
    const LivingProcess process(prepare);
    const census::Census census = scan();
    const Seen seen = seen_of(census, process.pid());
    EXPECT_THAT(seen.processes, IsEmpty());
    return seen.skipped;
}

TEST(Discover, FindsATrackedProcessWithTheKernelsWordOnWhoItIs) {
    const LivingProcess process(track_something);
    census::Census census = scan();
    const Seen seen = seen_of(census, process.pid());
    ASSERT_THAT(seen.processes, SizeIs(1));
    EXPECT_THAT(seen.skipped, IsEmpty());
    const census::Identity& identity = seen.processes[0]->identity;
    EXPECT_EQ(identity.inner_pid, process.pid());
    EXPECT_EQ(identity.uid, geteuid());
    EXPECT_EQ(identity.comm, "sources_segment");
    EXPECT_EQ(seen.processes[0]->ledger->totals().sets.at(0).pools[TTMEM_DRAM].used, 400u);
}

TEST(Discover, AProcessThatHasEndedIsNotThere) {
    LivingProcess process(track_something);
    const uint32_t pid = process.pid();
    process.finish();
    const census::Census census = scan();
    EXPECT_THAT(seen_of(census, pid).processes, IsEmpty());
    EXPECT_THAT(seen_of(census, pid).skipped, IsEmpty());
}

TEST(Discover, AZombieIsNotThere) {
    const pid_t child = fork();
    if (child == 0) {
        track_something();
        _exit(0);
    }
    siginfo_t info{};
    // The child has ended and was not reaped.
    ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT), 0);
    const census::Census census = scan();
    EXPECT_THAT(seen_of(census, static_cast<uint32_t>(child)).processes, IsEmpty());
    waitpid(child, nullptr, 0);
}

TEST(Discover, AForkedChildThatInheritedTheDescriptorIsNotItsParent) {
    pid_t* const child = static_cast<pid_t*>(
        mmap(nullptr, sizeof(pid_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    LivingProcess parent([&] {
        track_something();
        const pid_t forked = fork();
        if (forked == 0) {
            pause();
            _exit(0);
        }
        *child = forked;
    });
    const auto child_pid = static_cast<uint32_t>(*child);
    {
        const census::Census census = scan();
        EXPECT_THAT(seen_of(census, parent.pid()).processes, SizeIs(1));
        EXPECT_THAT(seen_of(census, child_pid).processes, IsEmpty());
        EXPECT_THAT(seen_of(census, child_pid).skipped, IsEmpty());
    }
    const std::string parent_pid = std::to_string(parent.pid());
    parent.finish();
    const census::Census census = scan();
    EXPECT_THAT(seen_of(census, child_pid).processes, IsEmpty());
    EXPECT_THAT(seen_of(census, child_pid).skipped,
                ElementsAre("segment is not its own (it names process " + parent_pid + "), skipped"));
    EXPECT_TRUE(std::any_of(census.omissions.begin(), census.omissions.end(),
                            [&](const auto& one) { return one.pid == child_pid && one.is_foreign; }));
    kill(*child, SIGKILL);
    munmap(child, sizeof(pid_t));
}

TEST(Discover, AReaderOfASegmentIsNobodysOwner) {
    LivingProcess process(track_something);
    const census::Census reader = scan();  // holds the file open from here on, as any reader does
    ASSERT_THAT(seen_of(reader, process.pid()).processes, SizeIs(1));
    const auto self = static_cast<uint32_t>(getpid());
    {
        const census::Census census = scan();
        EXPECT_THAT(seen_of(census, process.pid()).processes, SizeIs(1));
        EXPECT_THAT(seen_of(census, self).processes, IsEmpty());
    }
    process.finish();
    const census::Census census = scan();
    EXPECT_THAT(seen_of(census, self).processes, IsEmpty());
    EXPECT_THAT(seen_of(census, self).skipped, IsEmpty());
}

TEST(Discover, AReaderMayHoldThoseOfAWholeHost) {
    const LivingProcess process(track_something);
    std::vector<census::Census> held;  // each element holds the file open once more
    for (int i = 0; i < 100; ++i) {
        held.push_back(scan());
    }
    const census::Census census = scan();
    EXPECT_THAT(seen_of(census, static_cast<uint32_t>(getpid())).skipped, IsEmpty());
    EXPECT_THAT(seen_of(census, process.pid()).processes, SizeIs(1));
}

TEST(Discover, AFileHeldTwiceCountsOnce) {
    const LivingProcess process([] {
        const int file = forge([](auto&) {});
        if (dup(file) < 0) {
            _exit(1);
        }
    });
    const census::Census census = scan();
    EXPECT_THAT(seen_of(census, process.pid()).processes, SizeIs(1));
    EXPECT_THAT(seen_of(census, process.pid()).skipped, IsEmpty());
}

TEST(Discover, AProcessWhoseMainThreadHasEndedIsAlive) {
    int ready[2];
    int end[2];
    ASSERT_EQ(pipe(ready) | pipe(end), 0);
    const pid_t child = fork();
    if (child == 0) {
        track_something();
        static int pipes[2];
        pipes[0] = ready[1];
        pipes[1] = end[0];
        close(end[1]);
        pthread_t thread;
        pthread_create(
            &thread, nullptr,
            [](void*) -> void* {
                // Wait until the main thread is a zombie.
                const auto folder = Proc().open(static_cast<uint32_t>(getpid()));
                while (folder->read("stat")->find(") Z ") == std::string::npos) {
                    sched_yield();
                }
                char byte = 1;
                _exit(write(pipes[0], &byte, 1) == 1 && read(pipes[1], &byte, 1) == 0 ? 0 : 1);
            },
            nullptr);
        syscall(SYS_exit, 0);  // what pthread_exit() does in the end, without unwinding through the test
    }
    close(end[0]);
    char byte = 0;
    ASSERT_EQ(read(ready[0], &byte, 1), 1);
    const census::Census census = scan();
    EXPECT_THAT(seen_of(census, static_cast<uint32_t>(child)).processes, SizeIs(1));
    close(end[1]);
    waitpid(child, nullptr, 0);
    close(ready[0]);
    close(ready[1]);
}

// Runs `inside` as pid 1 of a new pid namespace. Returns its pid in the namespace of the test.
pid_t fork_into_namespace(const std::function<void()>& inside) {
    if (unshare(CLONE_NEWPID) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWPID) != 0) {
        return -1;
    }
    const pid_t child = fork();
    if (child == 0) {
        inside();
        pause();
        _exit(0);
    }
    return child;
}

TEST(Discover, AProcessInAPidNamespaceOfItsOwnIsFoundByItsInnermostPid) {
    struct Shared {
        pid_t pid;
        volatile int ready;
    };
    auto* const shared = static_cast<Shared*>(
        mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    const LivingProcess outer([&] {
        shared->pid = fork_into_namespace([&] {
            track_something();
            shared->ready = 1;
        });
        while (shared->pid > 0 && shared->ready == 0) {
            sched_yield();
        }
    });
    if (shared->pid < 0) {
        GTEST_SKIP() << "this user may not make a pid namespace here";
    }
    const census::Census census = scan();
    const Seen seen = seen_of(census, static_cast<uint32_t>(shared->pid));
    ASSERT_THAT(seen.processes, SizeIs(1));
    EXPECT_EQ(seen.processes[0]->identity.inner_pid, 1u);
    EXPECT_EQ(seen.processes[0]->ledger->pid(), 1u);
    kill(shared->pid, SIGKILL);
    munmap(shared, sizeof(Shared));
}

TEST(Discover, AWrongMagicIsSkippedWithOneLine) {
    EXPECT_THAT(lines_about([] { forge([](auto& header) { header.magic = 0x1234; }); }),
                ElementsAre("segment does not start with the magic of a segment, skipped"));
}

TEST(Discover, AWrongVersionIsSkippedWithOneLine) {
    EXPECT_THAT(lines_about([] { forge([](auto& header) { header.version = 7; }); }),
                ElementsAre("segment version 7, this program reads 2: upgrade ttmem, skipped"));
}

TEST(Discover, AWrongSizeIsSkippedWithOneLine) {
    const std::vector<std::string> lines = lines_about([] { forge([](auto&) {}, kAllSeals, 4096); });
    ASSERT_THAT(lines, SizeIs(1));
    EXPECT_THAT(lines[0], testing::MatchesRegex("segment claims [0-9]+ bytes, and has [0-9]+, skipped"));
    EXPECT_THAT(lines_about([] { forge([](auto&) {}, kAllSeals, 100); }), SizeIs(1));
}

TEST(Discover, AMissingSealIsSkippedWithOneLine) {
    for (const int seal : {F_SEAL_SHRINK, F_SEAL_GROW, F_SEAL_FUTURE_WRITE, F_SEAL_SEAL}) {
        EXPECT_THAT(lines_about([&] { forge([](auto&) {}, kAllSeals & ~seal); }),
                    ElementsAre("segment lacks a seal, skipped"))
            << seal;
    }
}

TEST(Discover, AWrongOwnerIsSkippedWithOneLine) {
    EXPECT_THAT(lines_about([] { forge([](auto& header) { header.pid = 1; }); }),
                ElementsAre("segment is not its own (it names process 1), skipped"));
    EXPECT_THAT(lines_about([] { forge([](auto& header) { header.start_time += 1; }); }), SizeIs(1));
}

TEST(Discover, UnfinishedOnesAreSkippedInSilence) {
    EXPECT_THAT(lines_about([] { forge([](auto& header) { header.magic = 0; }); }), IsEmpty());
    EXPECT_THAT(lines_about([] { forge([](auto&) {}, 0); }), IsEmpty());
    EXPECT_THAT(lines_about([] { memfd_create("ttmem", MFD_CLOEXEC | MFD_ALLOW_SEALING); }), IsEmpty());
}

TEST(Discover, ABadOneIsToldOfWhoCouldHaveWrittenItAndNotOfItsReaders) {
    int* const number = static_cast<int*>(
        mmap(nullptr, sizeof(int), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    LivingProcess process([&] { *number = forge([](auto& header) { header.magic = 0x1234; }); });
    const std::string path = "/proc/" + std::to_string(process.pid()) + "/fd/" + std::to_string(*number);
    const base::Descriptor reader(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    ASSERT_TRUE(reader);
    const auto self = static_cast<uint32_t>(getpid());
    EXPECT_THAT(seen_of(scan(), process.pid()).skipped, SizeIs(1));
    EXPECT_THAT(seen_of(scan(), self).skipped, IsEmpty());
    process.finish();
    EXPECT_THAT(seen_of(scan(), self).skipped, IsEmpty());
    munmap(number, sizeof(int));
}

TEST(Discover, OfManyBadOnesInAProcessOneIsTold) {
    EXPECT_THAT(lines_about([] {
                    for (int i = 0; i < 5; ++i) {
                        forge([](auto& header) { header.magic = 0x1234; });
                    }
                }),
                SizeIs(1));
}

TEST(Discover, AnotherUsersProcessIsOneThatCouldNotBeRead) {
    const LivingProcess process(track_something);
    if (geteuid() != 0) {
        // Without root, this test can't run as another user. It uses root's processes as those of another user.
        const census::Census census = scan();
        EXPECT_THAT(seen_of(census, 1).processes, IsEmpty());
        EXPECT_THAT(seen_of(census, 1).skipped, IsEmpty());
        EXPECT_TRUE(std::binary_search(census.unread.begin(), census.unread.end(), 1u));
        return;
    }
    const pid_t stranger = fork();
    if (stranger == 0) {
        if (setresgid(65534, 65534, 65534) != 0 || setresuid(65534, 65534, 65534) != 0) {
            _exit(2);
        }
        const census::Census census = scan();
        const Seen seen = seen_of(census, process.pid());
        const bool is_unread = std::binary_search(census.unread.begin(), census.unread.end(), process.pid());
        _exit(seen.processes.empty() && seen.skipped.empty() && is_unread ? 0 : 1);
    }
    int status = 0;
    waitpid(stranger, &status, 0);
    EXPECT_EQ(status, 0);
}

TEST(Discover, WhatIsKnownIsNotLookedAtAgain) {
    const LivingProcess process(track_something);
    const auto is_it = [&](const AttachedSegment& attached) {
        return attached.process.identity.pid == process.pid();
    };
    const FoundSegments first = discover(Proc());
    const auto it = std::find_if(first.attached.begin(), first.attached.end(), is_it);
    ASSERT_NE(it, first.attached.end());
    EXPECT_FALSE(base::has_ended(it->handle));
    const FoundSegments second = discover(Proc(), {it->file.id});
    EXPECT_EQ(std::count_if(second.attached.begin(), second.attached.end(), is_it), 0);
}

TEST(Discover, ALinkWhoseProcessIsJustEndingIsPassedOver) {
    char root[] = "/tmp/ttmem-proc-XXXXXX";
    ASSERT_NE(mkdtemp(root), nullptr);
    const std::filesystem::path folder = std::filesystem::path(root) / "4711" / "fd";
    std::filesystem::create_directories(folder);
    // The link is dangling, and the process does not exist.
    std::filesystem::create_symlink("/memfd:ttmem (deleted)", folder / "5");
    const FoundSegments found = discover(Proc(root));
    EXPECT_THAT(found.attached, IsEmpty());
    EXPECT_THAT(found.omissions, IsEmpty());
    std::filesystem::remove_all(root);
}

}  // namespace
}  // namespace ttmem::sources::segments
