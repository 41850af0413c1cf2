// SPDX-License-Identifier: Apache-2.0
#include "base/pidfd.hpp"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>

namespace ttmem::base {
namespace {

void wait_for_state(pid_t pid, int what) {
    siginfo_t info{};
    ASSERT_EQ(waitid(P_PID, static_cast<id_t>(pid), &info, what | WNOWAIT), 0);
}

TEST(Pidfd, AZombieHasEnded) {
    const pid_t child = fork();
    if (child == 0) {
        pause();
        _exit(0);
    }
    const Descriptor process = open_process(child);
    ASSERT_TRUE(process);
    EXPECT_FALSE(has_ended(process));
    kill(child, SIGKILL);
    wait_for_state(child, WEXITED);  // and nobody has reaped it
    EXPECT_TRUE(has_ended(process));
    waitpid(child, nullptr, 0);
    EXPECT_TRUE(has_ended(process)) << "a descriptor stays with its process";
    EXPECT_FALSE(open_process(child));
}

TEST(Pidfd, AProcessWhoseMainThreadIsGoneLives) {
    std::array<int, 2> pipe_ends{};
    ASSERT_EQ(pipe(pipe_ends.data()), 0);
    const pid_t child = fork();
    if (child == 0) {
        pthread_t thread{};
        pthread_create(
            &thread, nullptr,
            [](void* end) -> void* {
                // The main thread is a zombie when its state says so; only then may the test check it.
                char state = 0;
                while (state != 'Z') {
                    FILE* stat = fopen("/proc/self/stat", "r");
                    if (stat == nullptr || fscanf(stat, "%*d (%*[^)]) %c", &state) != 1) {
                        _exit(1);
                    }
                    fclose(stat);
                }
                if (write(*static_cast<int*>(end), "r", 1) != 1) {
                    _exit(1);
                }
                pause();
                return nullptr;
            },
            &pipe_ends[1]);
        syscall(SYS_exit, 0);  // this thread alone; pthread_exit() would unwind through the test's frames
    }
    char ready = 0;
    ASSERT_EQ(read(pipe_ends[0], &ready, 1), 1);
    const Descriptor process = open_process(child);
    ASSERT_TRUE(process);
    EXPECT_FALSE(has_ended(process));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    EXPECT_TRUE(has_ended(process));
}

TEST(Pidfd, SaysHowAProcessEndedOnceItsParentHasWaited) {
    for (const bool is_killed : {false, true}) {
        const pid_t child = fork();
        if (child == 0) {
            if (is_killed) {
                pause();
            }
            _exit(7);
        }
        const Descriptor process = open_process(child);
        ASSERT_TRUE(process);
        if (is_killed) {
            EXPECT_EQ(exit_status(process), std::nullopt);
            kill(child, SIGKILL);
        }
        int status = 0;
        ASSERT_EQ(waitpid(child, &status, 0), child);
        const auto seen = exit_status(process);
        EXPECT_TRUE(!seen || *seen == status) << "a kernel before 6.15 says nothing";
    }
    EXPECT_EQ(exit_status(Descriptor()), std::nullopt);
}

}  // namespace
}  // namespace ttmem::base
