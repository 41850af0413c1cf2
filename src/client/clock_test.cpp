// SPDX-License-Identifier: Apache-2.0

// Threads that may not read the time-stamp counter (PR_SET_TSC): one read is a SIGSEGV, in the client and in the vDSO alike.
// What they record has the same times as what others record.

#include "client/clock.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <functional>
#include <thread>

#include "base/time.hpp"
#include "tests/support/child.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/own_segment.hpp"
#include "tests/support/seccomp.hpp"
#include "ttmem/ttmem.h"

#if defined(__x86_64__)

namespace {

using namespace ttmem;
using namespace ttmem::test;
using segment::ClockKind;

constexpr uint64_t kToleranceNs =
    20'000'000;  // a converted time is far more exact in a process that is so young

// While there is one, its thread may not read the counter. No clock of the C++ library and no expectation that fails may run
// meanwhile.
class WithoutCounter {
public:
    WithoutCounter() { EXPECT_EQ(prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0), 0); }
    ~WithoutCounter() { prctl(PR_SET_TSC, PR_TSC_ENABLE, 0, 0, 0); }
    WithoutCounter(const WithoutCounter&) = delete;
    WithoutCounter& operator=(const WithoutCounter&) = delete;
};

ClockKind own_clock_kind() {
    const auto* header = static_cast<const segment::Header*>(own_mapping()->start);
    return static_cast<ClockKind>(header->clock_kind);
}

// Some of every call that records a time. It leaves `owner` and one circular buffer live.
void record(ttmem_set set, uint64_t owner) {
    allocate_dram(set, owner);
    ttmem_free(allocate_dram(set, owner + 1));
    ttmem_allocate_cb(set, 1, 2, 3, nullptr, 0);
    ttmem_load_kernel(set, 7, TTMEM_KERNEL_APPLICATION, 3);
    ttmem_program_gone(7);
    ttmem_report_allocation(0, 1, 0, 2);
    ttmem_report_deallocation(0, 2);
    ttmem_out_of_memory failure{};
    failure.set = set;
    ttmem_allocation_failed(&failure);
}

// All times in this process's segment are between these two.
void expect_all_times_between(uint64_t from_ns, uint64_t to_ns) {
    const segment::Reader reader = own_reader();
    const segment::Clock clock = reader.clock();
    const auto expect_between = [&](uint64_t ticks, const char* what) {
        EXPECT_GE(clock.monotonic_ns(ticks) + kToleranceNs, from_ns) << what;
        EXPECT_LE(clock.monotonic_ns(ticks), to_ns + kToleranceNs) << what;
    };
    uint64_t live = 0;
    reader.for_each_live([&](segment::SlotRef, const segment::Allocation& a) {
        expect_between(a.ticks, "allocation");
        ++live;
        return true;
    });
    EXPECT_GE(live, 2u);
    segment::Cursor cursor;
    reader.follow(cursor, [&](uint32_t, const segment::Event& e) { expect_between(e.ticks, "event"); });
    EXPECT_GE(cursor.kept(), 10u);
    EXPECT_EQ(reader.failures().size(), 1u);
    for (const segment::Failure& failure : reader.failures()) {
        expect_between(failure.ticks, "failure");
    }
    for (const segment::SetTotals& set : reader.sets()) {
        expect_between(set.set.opened_ticks, "set");
    }
}

TEST(WithoutCounter, AReadOfTheCounterWouldBeNoticed) {
    const Outcome outcome = run_in_child([] {
        signal(SIGSEGV, SIG_DFL);
        const WithoutCounter forbidden;
        _exit(client::read_counter() != 0 ? 0 : 1);
    });
    EXPECT_EQ(outcome.signal, SIGSEGV);
}

TRACKED_TEST(WithoutCounter, AProcessRecordsNanoseconds) {
    const uint64_t before = base::monotonic_ns();
    {
        const WithoutCounter forbidden;
        record(make_set(), 1);
    }
    EXPECT_EQ(own_clock_kind(), ClockKind::monotonic_ns);
    expect_all_times_between(before, base::monotonic_ns());
}

TRACKED_TEST(WithoutCounter, AThreadOfAProcessThatReadsItConvertsItsTimes) {
    const ttmem_set set = make_set();
    uint64_t before = 0;
    uint64_t after = 0;
    std::thread([&] {
        usleep(50'000);
        before = base::monotonic_ns();
        {
            const WithoutCounter forbidden;
            record(set, 1);
        }
        after = base::monotonic_ns();
    }).join();
    const segment::Reader reader = own_reader();
    const segment::Clock clock = reader.clock();
    const uint64_t opened = reader.sets().at(0).set.opened_ticks;
    uint64_t live = 0;
    reader.for_each_live([&](segment::SlotRef, const segment::Allocation& a) {
        EXPECT_GE(a.ticks, opened) << "an event of a set is not before the set";
        EXPECT_GE(clock.monotonic_ns(a.ticks) + kToleranceNs, before);
        EXPECT_LE(clock.monotonic_ns(a.ticks), after + kToleranceNs);
        ++live;
        return true;
    });
    EXPECT_EQ(live, 2u);
    EXPECT_EQ(reader.failures().size(), 1u);
    EXPECT_GE(reader.failures().at(0).ticks, opened);
}

TRACKED_TEST(WithoutCounter, AThreadMayOpenAndCloseSets) {
    const uint64_t before = base::monotonic_ns();
    const ttmem_set first = make_set();
    std::thread([&] {
        const WithoutCounter forbidden;
        record(make_set(1), 1);
        ttmem_close_set(first);
    }).join();
    expect_all_times_between(before, base::monotonic_ns());
    EXPECT_GE(own_reader().sets().at(0).set.closed_ticks, own_reader().sets().at(0).set.opened_ticks);
}

// A line goes from a thread to the next one, with whatever clock that one has.
TRACKED_TEST(WithoutCounter, ThreadsOfBothSortsTakeOverEachOthersLines) {
    const uint64_t before = base::monotonic_ns();
    const ttmem_set set = make_set();
    for (uint64_t i = 0; i < 10; ++i) {
        std::thread([&] { ttmem_free(allocate_dram(set, 2 * i)); }).join();
        std::thread([&] {
            const WithoutCounter forbidden;
            ttmem_free(allocate_dram(set, 2 * i + 1));
        }).join();
    }
    EXPECT_LE(own_reader().writers().size(), 3u) << "the lines were not taken over";
    record(set, 100);
    expect_all_times_between(before, base::monotonic_ns());
}

TRACKED_TEST(WithoutCounter, ThreadsOfBothSortsShareALine) {
    set_environment("TTMEM_WRITERS", "1");
    const uint64_t before = base::monotonic_ns();
    const ttmem_set set = make_set();
    std::thread([&] {
        const WithoutCounter forbidden;
        record(set, 1);
    }).join();
    ttmem_free(allocate_dram(set, 10));
    expect_all_times_between(before, base::monotonic_ns());
}

void expect_passes_in_fork(const std::function<void()>& body) {
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

TRACKED_TEST(WithoutCounter, AForkedChildHasTheClockThatItMayRead) {
    allocate_dram(make_set(), 1);
    const ClockKind usual = own_clock_kind();
    expect_passes_in_fork([&] {
        const uint64_t before = base::monotonic_ns();
        {
            const WithoutCounter forbidden;
            record(make_set(), 1);
        }
        EXPECT_EQ(own_clock_kind(), ClockKind::monotonic_ns);
        expect_all_times_between(before, base::monotonic_ns());
        expect_passes_in_fork([&] {
            record(make_set(), 1);
            EXPECT_EQ(own_clock_kind(), usual);
            expect_all_times_between(before, base::monotonic_ns());
        });
    });
}

TRACKED_TEST(WithoutCounter, AForkedChildInheritsThatItMayNotReadIt) {
    const uint64_t before = base::monotonic_ns();
    pid_t child = 0;
    {
        const WithoutCounter forbidden;
        allocate_dram(make_set(), 1);
        std::fflush(nullptr);
        child = fork();
        if (child == 0) {
            record(make_set(), 1);
        }
    }
    if (child == 0) {
        expect_all_times_between(before, base::monotonic_ns());
        std::fflush(nullptr);
        _exit(testing::Test::HasFailure() ? 1 : 0);
    }
    EXPECT_EQ(wait_for_child(child).code, 0);
}

TRACKED_TEST(WithoutCounter, AFilterThatHidesTheSettingMeansThatItIsNotRead) {
    const uint64_t before = base::monotonic_ns();
    ASSERT_TRUE(refuse_system_call(SYS_prctl, EPERM, {{0, PR_GET_TSC}}));
    {
        const WithoutCounter forbidden;
        record(make_set(), 1);
    }
    EXPECT_EQ(own_clock_kind(), ClockKind::monotonic_ns);
    expect_all_times_between(before, base::monotonic_ns());
}

TRACKED_TEST(WithoutCounter, CallsKeepErrno) {
    const WithoutCounter forbidden;
    errno = ENOTTY;
    ttmem_free(allocate_dram(make_set(), 1));
    EXPECT_EQ(errno, ENOTTY);
}

}  // namespace

#endif
