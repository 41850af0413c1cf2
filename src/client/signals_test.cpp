// SPDX-License-Identifier: Apache-2.0

// A signal handler that reports allocations: recorded where it interrupted the program, refused and counted where it
// interrupted a call of the client; no deadlock, no crash, state exact. races_test.cpp does the same at every named
// point of the hot path, one by one.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>

#include <atomic>
#include <cerrno>
#include <thread>
#include <vector>

#include "tests/support/child.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/own_segment.hpp"
#include "tests/support/wait.hpp"
#include "ttmem/ttmem.h"

namespace {

using namespace ttmem;
using namespace ttmem::test;
using segment::AllocationKind;
using segment::Inexact;
using testing::IsEmpty;

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr uint64_t kSignals = 1'000;
#else
constexpr uint64_t kSignals = 5'000;
#endif

ttmem_set g_set;
std::atomic<uint64_t> g_handled{0};
std::atomic<uint64_t> g_recorded{0};
std::atomic<uint64_t> g_refused{0};
std::atomic<uint64_t> g_wrong_errno{0};

void report_in_handler(int) {
    const int before = errno;
    errno = ENOTTY;
    const ttmem_handle handle = ttmem_allocate(g_set, TTMEM_TRACE, 1, 3, 3, 1);
    (handle == 0 ? g_refused : g_recorded).fetch_add(1);
    ttmem_free(handle);  // of nothing, where it was refused
    g_wrong_errno.fetch_add(errno == ENOTTY ? 0 : 1);
    errno = before;
    g_handled.fetch_add(1);
}

void handle_with(int signal, void (*handler)(int)) {
    struct sigaction action {};
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    ASSERT_EQ(sigaction(signal, &action, nullptr), 0);
}

// Something of everything that a thread does, so that the signals meet it everywhere.
void work(uint64_t turn) {
    ttmem_scope_push(turn % 2 == 0 ? "even" : "odd");
    const ttmem_handle buffer = ttmem_allocate(g_set, TTMEM_DRAM, turn, 10, 20, turn);
    const ttmem_handle cb = ttmem_allocate_cb(g_set, turn, turn, 10, nullptr, 0);
    ttmem_scope_pop();
    ttmem_tag(buffer, "tag");
    ttmem_load_kernel(g_set, turn, TTMEM_KERNEL_APPLICATION, 5);
    ttmem_report_allocation(9, 10, 0, turn + 1);
    ttmem_report_deallocation(9, turn + 1);
    ttmem_free(buffer);
    ttmem_free(cb);
    ttmem_program_gone(turn);
}

void expect_as_counted() {
    const segment::Reader reader = own_reader();
    EXPECT_THAT(differences(reader, {}), IsEmpty());
    EXPECT_EQ(reader.inexact(Inexact::reentered), g_refused.load());
    EXPECT_EQ(reader.inexact(Inexact::unknown_free) + reader.inexact(Inexact::double_free), 0u);
    EXPECT_LE(pool(reader, g_set, AllocationKind::trace).peak, 6u)
        << "at most two threads are in the handler at once";
    EXPECT_EQ(g_wrong_errno.load(), 0u);
    std::cout << g_handled.load() << " signals: " << g_recorded.load() << " reports recorded, "
              << g_refused.load() << " refused\n";
}

TRACKED_TEST(Signals, AStormFromAnotherThreadIsRecordedOrRefusedAndCounted) {
    g_set = make_set();
    handle_with(SIGUSR1, report_in_handler);
    std::atomic<bool> stop{false};
    std::thread worker([&] {
        for (uint64_t turn = 0; !stop.load(); ++turn) {
            work(turn);
        }
    });
    while (g_handled.load() < kSignals) {
        pthread_kill(worker.native_handle(), SIGUSR1);
        spin(200);
    }
    stop.store(true);
    worker.join();
    expect_as_counted();
}

TRACKED_TEST(Signals, ATimerThatHitsAnyThreadIsRecordedOrRefusedAndCounted) {
    g_set = make_set();
    handle_with(SIGALRM, report_in_handler);
    std::atomic<bool> stop{false};
    std::vector<std::thread> workers;
    for (uint64_t number = 0; number < 2; ++number) {
        workers.emplace_back([&, number] {
            for (uint64_t turn = number << 40; !stop.load(); ++turn) {
                work(turn);
            }
        });
    }
    const itimerval often{{0, 100}, {0, 100}};
    setitimer(ITIMER_REAL, &often, nullptr);
    EXPECT_TRUE(wait_until([] { return g_handled.load() >= kSignals / 20; }));
    const itimerval never{};
    setitimer(ITIMER_REAL, &never, nullptr);
    stop.store(true);
    for (std::thread& thread : workers) {
        thread.join();
    }
    EXPECT_GT(g_recorded.load(), 0u);
    expect_as_counted();
}

// The very first call of a process, and of each thread, is interrupted too: there the segment and the line are made.
TRACKED_TEST(Signals, DuringTheFirstCallsOfThreadsTheyAreRecordedOrRefusedAndCounted) {
    handle_with(SIGUSR1, report_in_handler);
    std::atomic<bool> stop{false};
    const pthread_t here = pthread_self();
    std::thread sender([&] {
        while (!stop.load()) {
            pthread_kill(here, SIGUSR1);
            spin(100);
        }
    });
    g_set = make_set();
    for (int i = 0; i < 100; ++i) {
        work(static_cast<uint64_t>(i));
    }
    stop.store(true);
    sender.join();
    // Until the set was there, reports were in none: counted as that, if not refused.
    const segment::Reader reader = own_reader();
    EXPECT_THAT(differences(reader, {}), IsEmpty());
    EXPECT_EQ(reader.inexact(Inexact::reentered) + reader.inexact(Inexact::unknown_set), g_refused.load());
}

}  // namespace
