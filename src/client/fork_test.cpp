// SPDX-License-Identifier: Apache-2.0

// fork, with and without exec, in processes with one thread and with many: the child has a segment of its own, the
// parent's handles mean nothing in it, and the parent is unharmed.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/child.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/own_segment.hpp"
#include "ttmem/ttmem.h"

extern char** environ;

namespace {

using namespace ttmem;
using namespace ttmem::test;
using segment::Inexact;
using testing::IsEmpty;

// Runs `body` in a forked child and waits for it; the child's failed expectations are this process's too.
template <class Body>
void in_fork(Body&& body) {
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
        body();
        std::fflush(nullptr);
        _exit(testing::Test::HasFailure() ? 1 : 0);
    }
    const Outcome outcome = wait_for_child(child);
    EXPECT_EQ(outcome.signal, 0);
    EXPECT_EQ(outcome.code, 0);
}

TRACKED_TEST(Fork, TheChildHasNoSegmentUntilItCallsAndThenOneOfItsOwn) {
    const ttmem_set set = make_set();
    allocate_dram(set, 1);
    const uint32_t parent = own_reader().pid();
    EXPECT_EQ(parent, static_cast<uint32_t>(getpid()));
    in_fork([&] {
        EXPECT_EQ(ttmem_is_reporting(), 0);
        EXPECT_FALSE(own_mapping().has_value()) << "the parent's map was inherited";
        const ttmem_set mine = make_set(5);
        allocate_dram(mine, 2);
        const segment::Reader reader = own_reader();
        EXPECT_EQ(reader.pid(), static_cast<uint32_t>(getpid()));
        EXPECT_THAT(differences(reader, {live_dram(mine, 2)}), IsEmpty());
        EXPECT_EQ(reader.devices().size(), 1u) << "the parent's devices are not the child's";
    });
    EXPECT_THAT(differences(own_reader(), {live_dram(set, 1)}), IsEmpty());
    EXPECT_EQ(own_reader().pid(), parent);
}

TRACKED_TEST(Fork, HandlesAndSetsOfTheParentMeanNothingInTheChild) {
    const ttmem_set set = make_set();
    const ttmem_handle handle = allocate_dram(set, 1);
    in_fork([&] {
        EXPECT_EQ(allocate_dram(set, 2), 0u) << "the child has no such set";
        const ttmem_set mine = make_set();  // the same entry as the parent's
        EXPECT_NE(mine, set);
        allocate_dram(mine, 3);  // the same slot as the parent's allocation
        ttmem_free(handle);
        ttmem_tag(handle, "tag");
        ttmem_close_set(set);
        ttmem_clear_set(set);
        const segment::Reader reader = own_reader();
        EXPECT_THAT(differences(reader, {live_dram(mine, 3)}), IsEmpty());
        EXPECT_EQ(reader.inexact(Inexact::unknown_free), 1u);
        EXPECT_EQ(reader.inexact(Inexact::double_free), 0u);
        EXPECT_EQ(reader.inexact(Inexact::unknown_set), 3u);
    });
    const segment::Reader reader = own_reader();
    EXPECT_THAT(differences(reader, {live_dram(set, 1)}), IsEmpty());
    ttmem_free(handle);
    EXPECT_THAT(differences(reader, {}), IsEmpty());
    EXPECT_EQ(reader.inexact(Inexact::unknown_free) + reader.inexact(Inexact::unknown_set), 0u);
}

TRACKED_TEST(Fork, ScopesOfTheParentEndInTheChildAndStayBalanced) {
    const ttmem_set set = make_set();
    ttmem_scope_push("parent");
    in_fork([&] {
        const ttmem_set mine = make_set();
        allocate_dram(mine, 1);
        ttmem_scope_pop();  // the parent's
        ttmem_scope_push("child");
        allocate_dram(mine, 2);
        Live named = live_dram(mine, 2);
        named.name = "child";
        EXPECT_THAT(differences(own_reader(), {live_dram(mine, 1), named}), IsEmpty());
    });
    allocate_dram(set, 3);
    Live named = live_dram(set, 3);
    named.name = "parent";
    EXPECT_THAT(differences(own_reader(), {named}), IsEmpty());
}

TRACKED_TEST(Fork, GrandchildrenAndChildrenThatNeverCallAreFine) {
    const ttmem_set set = make_set();
    in_fork([] {});
    in_fork([] {
        in_fork([] {
            const ttmem_set mine = make_set();
            allocate_dram(mine, 1);
            in_fork([] {
                const ttmem_set deepest = make_set();
                allocate_dram(deepest, 2);
                EXPECT_THAT(differences(own_reader(), {live_dram(deepest, 2)}), IsEmpty());
            });
            EXPECT_THAT(differences(own_reader(), {live_dram(mine, 1)}), IsEmpty());
        });
    });
    allocate_dram(set, 3);
    EXPECT_THAT(differences(own_reader(), {live_dram(set, 3)}), IsEmpty());
}

TRACKED_TEST(Fork, BeforeTheFirstCallBothSidesStartAfresh) {
    in_fork([] {
        const ttmem_set mine = make_set();
        allocate_dram(mine, 1);
        EXPECT_THAT(differences(own_reader(), {live_dram(mine, 1)}), IsEmpty());
    });
    const ttmem_set set = make_set();
    allocate_dram(set, 2);
    EXPECT_THAT(differences(own_reader(), {live_dram(set, 2)}), IsEmpty());
}

TRACKED_TEST(Fork, WithTrackingOffStaysOff) {
    unset_environment("TT_ALLOC_TRACKING_ENABLED");
    EXPECT_EQ(make_set(), 0u);
    in_fork([] {
        EXPECT_EQ(make_set(), 0u);
        EXPECT_FALSE(own_mapping().has_value());
    });
}

#if !defined( \
    __SANITIZE_THREAD__)  // its runtime does not survive a fork of several threads that goes on without exec
TRACKED_TEST(Fork, OfAProcessWhoseThreadsAreAllAtWorkGivesAHealthyChildEachTime) {
    const ttmem_set set = make_set();
    std::atomic<bool> stop{false};
    std::vector<std::thread> threads;
    for (uint64_t number = 0; number < 3; ++number) {
        threads.emplace_back([&, number] {
            for (uint64_t i = 0; !stop.load(); ++i) {
                ttmem_scope_push("scope");
                const ttmem_handle handle = allocate_dram(set, number << 32 | i);
                const ttmem_handle cb = ttmem_allocate_cb(set, number, i, 1, nullptr, 0);
                ttmem_report_allocation(static_cast<int>(number), 1, 0, i + 1);
                ttmem_scope_pop();
                ttmem_report_deallocation(static_cast<int>(number), i + 1);
                ttmem_free(cb);
                ttmem_free(handle);
                ttmem_close_set(make_set(20 + static_cast<uint32_t>(number)));
            }
        });
    }
    for (int i = 0; i < 50; ++i) {
        // No EXPECT in the child: its text would take a lock that another thread may have held.
        const pid_t child = fork();
        if (child == 0) {
            const ttmem_set mine = make_set();
            const ttmem_handle kept = allocate_dram(mine, 1);
            ttmem_free(allocate_dram(mine, 2));
            ttmem_free(ttmem_allocate_cb(mine, 1, 2, 3, nullptr, 0));
            ttmem_report_allocation(0, 1, 0, 2);
            _exit(mine != 0 && kept != 0 ? 0 : 1);
        }
        const Outcome outcome = wait_for_child(child);
        ASSERT_EQ(outcome.signal, 0);
        ASSERT_EQ(outcome.code, 0);
    }
    stop.store(true);
    for (std::thread& thread : threads) {
        thread.join();
    }
    const segment::Reader reader = own_reader();
    EXPECT_THAT(differences(reader, {}), IsEmpty());
    EXPECT_EQ(reader.inexact(Inexact::unknown_free) + reader.inexact(Inexact::double_free), 0u);
}
#endif

std::string output_of(const std::vector<std::string>& command, bool by_vfork) {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    std::vector<char*> arguments;
    arguments.reserve(command.size() + 1);
    for (const std::string& part : command) {
        arguments.push_back(const_cast<char*>(part.c_str()));
    }
    arguments.push_back(nullptr);
    pid_t child = 0;
    if (by_vfork) {
        child = vfork();
        if (child == 0) {
            dup2(ends[1], STDOUT_FILENO);
            execv(arguments[0], arguments.data());
            _exit(127);
        }
    } else {
        posix_spawn_file_actions_t actions;
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
        EXPECT_EQ(posix_spawn(&child, arguments[0], &actions, nullptr, arguments.data(), environ), 0);
        posix_spawn_file_actions_destroy(&actions);
    }
    close(ends[1]);
    std::string text;
    char buffer[4096];
    for (ssize_t got = 0; (got = read(ends[0], buffer, sizeof buffer)) > 0;) {
        text.append(buffer, static_cast<size_t>(got));
    }
    close(ends[0]);
    EXPECT_EQ(wait_for_child(child).code, 0);
    return text;
}

// vfork and posix_spawn share the parent's memory until the exec: nothing in it may be wiped.
TRACKED_TEST(Exec, TheNewProgramInheritsNothingAndTheOldOneGoesOn) {
    const ttmem_set set = make_set();
    std::vector<Live> expected;
    for (uint64_t i = 0; i < 20; ++i) {
        const std::string files = output_of({"/bin/ls", "-l", "/proc/self/fd"}, i % 2 == 0);
        EXPECT_THAT(files, testing::HasSubstr("->"));
        EXPECT_THAT(files, testing::Not(testing::HasSubstr("-> /memfd:ttmem")))
            << "the descriptor was inherited";
        allocate_dram(set, i);
        expected.push_back(live_dram(set, i));
    }
    EXPECT_THAT(differences(own_reader(), expected), IsEmpty());
    EXPECT_EQ(count_own_descriptors(), 1u);
}

TRACKED_TEST(Exec, OfATrackedProgramByATrackedOneIsTrackedByItself) {
    const ttmem_set set = make_set();
    allocate_dram(set, 1);
    // Says what it is of and what it finds, after a few reports of its own (tests/proofs/newcomer.cpp).
    const std::string said = output_of({TTMEM_TEST_BIN_DIR "/newcomer"}, false);
    EXPECT_EQ(said, "1 descriptor, own pid, 1 live\n");
    EXPECT_THAT(differences(own_reader(), {live_dram(set, 1)}), IsEmpty());
}

// exec in the same process: same pid, same start time, another program.
TRACKED_TEST(Exec, InTheSameProcessStartsAfresh) {
    const ttmem_set set = make_set();
    allocate_dram(set, 1);
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
        const ttmem_set mine = make_set();
        allocate_dram(mine, 2);
        dup2(ends[1], STDOUT_FILENO);
        execl(TTMEM_TEST_BIN_DIR "/newcomer", "newcomer", nullptr);
        _exit(127);
    }
    close(ends[1]);
    char buffer[256] = {};
    size_t length = 0;
    for (ssize_t got = 0; (got = read(ends[0], buffer + length, sizeof buffer - 1 - length)) > 0;) {
        length += static_cast<size_t>(got);
    }
    close(ends[0]);
    EXPECT_EQ(wait_for_child(child).code, 0);
    EXPECT_STREQ(buffer, "1 descriptor, own pid, 1 live\n");
}

}  // namespace
