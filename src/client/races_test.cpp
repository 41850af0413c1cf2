// SPDX-License-Identifier: Apache-2.0

// Races made certain: the client with named points in its hot path is stopped, or interrupted, exactly there.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <map>
#include <string>
#include <thread>

#include "client/test_points.hpp"
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

// ---- a call inside a call, as a signal handler makes it ------------------------------------------------------------

ttmem_set g_set;
ttmem_handle g_kept;
std::map<std::string, uint64_t> g_interrupted;

// What a handler might do. None of it is recorded, and each call is counted.
void call_inside(const char* point) {
    ++g_interrupted[point];
    EXPECT_EQ(ttmem_allocate(g_set, TTMEM_TRACE, 1, 3, 3, 1), 0u);
    ttmem_free(g_kept);
    ttmem_scope_push("inside");
    ttmem_scope_pop();
    ttmem_tag(g_kept, "inside");
    EXPECT_EQ(ttmem_allocate_cb(g_set, 1, 2, 3, nullptr, 0), 0u);
    EXPECT_EQ(ttmem_load_kernel(g_set, 1, TTMEM_KERNEL_FABRIC, 3), 0u);
    ttmem_program_gone(77);
    ttmem_report_allocation(1, 2, 0, 3);
    ttmem_report_deallocation(1, 3);
    ttmem_clear_set(g_set);
    EXPECT_EQ(make_device(5), 0u);
}
constexpr uint64_t kCallsInside = 12;

TRACKED_TEST(CallInsideACall, IsRefusedAndCountedAtEveryPointAndDisturbsNothing) {
    g_set = make_set();
    g_kept = ttmem_allocate(g_set, TTMEM_DRAM, 1, 10, 20, 1);
    const ttmem_handle cb = ttmem_allocate_cb(g_set, 77, 2, 10, nullptr, 0);
    ttmem_test_point = call_inside;
    ttmem_scope_push("outside");
    ttmem_free(ttmem_allocate(g_set, TTMEM_L1, 3, 10, 20, 3));
    ttmem_report_allocation(9, 10, 0, 100);
    ttmem_report_deallocation(9, 100);
    ttmem_free(cb);
    ttmem_scope_pop();
    ttmem_test_point = nullptr;

    uint64_t times = 0;
    for (const auto& [point, count] : g_interrupted) {
        times += count;
    }
    EXPECT_EQ(g_interrupted.size(), 9u) << "some point was not reached";
    const segment::Reader reader = own_reader();
    EXPECT_EQ(reader.inexact(Inexact::reentered), times * kCallsInside);
    Live kept;
    kept.owner = kept.address = 1;
    kept.requested = 10;
    kept.reserved = 20;
    kept.set = static_cast<uint8_t>(g_set & 0xff);
    EXPECT_THAT(differences(reader, {kept}), IsEmpty());
    EXPECT_EQ(reader.inexact(Inexact::unknown_free) + reader.inexact(Inexact::double_free), 0u);
}

// ---- another thread, while this one is stopped ---------------------------------------------------------------------

std::atomic<const char*> g_stop_at{nullptr};
std::atomic<bool> g_stopped{false};
std::atomic<bool> g_go_on{false};
thread_local bool t_may_stop = false;

void stop_here(const char* point) {
    const char* where = g_stop_at.load();
    if (t_may_stop && where != nullptr && std::strcmp(point, where) == 0) {
        g_stop_at.store(nullptr);
        g_stopped.store(true);
        wait_until([] { return g_go_on.load(); });
    }
}

// Runs `body` in a thread up to `point`; then `meanwhile` here; then the rest of it.
template <class Body, class Meanwhile>
void stop_at(const char* point, Body&& body, Meanwhile&& meanwhile) {
    ttmem_test_point = stop_here;
    g_stop_at.store(point);
    g_stopped.store(false);
    g_go_on.store(false);
    std::thread thread([&] {
        t_may_stop = true;
        body();
    });
    EXPECT_TRUE(wait_until([] { return g_stopped.load(); })) << "the point is not reached: " << point;
    meanwhile();
    g_go_on.store(true);
    thread.join();
    ttmem_test_point = nullptr;
}

TRACKED_TEST(Race, TwoFreesOfTheSameAreOneAndASecondOne) {
    const ttmem_set set = make_set();
    const ttmem_handle handle = ttmem_allocate(set, TTMEM_DRAM, 1, 10, 20, 1);
    stop_at(
        "free: intent set", [&] { ttmem_free(handle); }, [&] { ttmem_free(handle); });
    const segment::Reader reader = own_reader();
    EXPECT_THAT(differences(reader, {}), IsEmpty());
    EXPECT_EQ(reader.inexact(Inexact::double_free), 1u);
}

TRACKED_TEST(Race, ASlotIsNotUsedAgainBeforeItsFreeIsDone) {
    const ttmem_set set = make_set();
    const ttmem_handle handle = ttmem_allocate(set, TTMEM_DRAM, 1, 10, 20, 1);
    stop_at(
        "free: slot retired", [&] { ttmem_free(handle); },
        [&] {
            for (uint64_t i = 0; i < 1000; ++i) {
                ttmem_allocate(set, TTMEM_L1, i, 7, 7, i);
            }
        });
    const segment::Reader reader = own_reader();
    EXPECT_EQ(pool(reader, set, AllocationKind::dram).used, 0u) << "the free has taken away another's bytes";
    EXPECT_EQ(pool(reader, set, AllocationKind::l1).used, 7000u);
    EXPECT_THAT(differences(reader, ledger_of(reader)), IsEmpty());
}

TRACKED_TEST(Race, TotalsAreSettlingWhileAnEventIsInFlightAndSettledAfterIt) {
    const ttmem_set set = make_set();
    for (const char* point : {"allocate: intent set", "allocate: slot published", "allocate: event written",
                              "allocate: counted"}) {
        stop_at(
            point, [&] { ttmem_allocate(set, TTMEM_DRAM, 1, 10, 20, 1); },
            [&] {
                const segment::Reader reader = own_reader();
                EXPECT_TRUE(reader.totals().settling) << point;
                EXPECT_TRUE(reader.totals_from_ledger().settling) << point;
            });
        EXPECT_FALSE(own_reader().totals().settling);
    }
    EXPECT_EQ(pool(own_reader(), set, AllocationKind::dram).used, 80u);
}

// The set is closed after the allocation was found to be in an open one.
TRACKED_TEST(Race, AnAllocationThatOutlivesTheCloseOfItsSetIsSweptWhenTheEntryIsUsedAgain) {
    const ttmem_device device = make_device(0);
    const ttmem_set set = ttmem_open_set(&device, 1, "closed too early");
    ttmem_handle late = 0;
    stop_at(
        "allocate: intent set", [&] { late = ttmem_allocate(set, TTMEM_DRAM, 1, 10, 20, 1); },
        [&] { ttmem_close_set(set); });
    const segment::Reader reader = own_reader();
    EXPECT_NE(late, 0u);
    EXPECT_EQ(ledger_of(reader).size(), 1u);
    EXPECT_THAT(differences(reader, ledger_of(reader)), IsEmpty()) << "it is there, and counted";
    for (uint32_t i = 1; i < segment::kMaxSets; ++i) {
        ttmem_open_set(&device, 1, nullptr);
    }
    EXPECT_EQ(ledger_of(reader).size(), 1u);
    const ttmem_set again = ttmem_open_set(&device, 1, "the same entry");
    EXPECT_EQ(again & 0xff, set & 0xff);
    EXPECT_THAT(differences(reader, {}), IsEmpty());
    EXPECT_EQ(pool(reader, again, AllocationKind::dram).peak, 0u);
    ttmem_free(late);
    EXPECT_EQ(reader.inexact(Inexact::double_free), 1u);
}

TRACKED_TEST(Race, AFreeThatMeetsTheEndOfItsProgramIsOneFree) {
    const ttmem_set set = make_set();
    const ttmem_handle handle = ttmem_allocate_cb(set, 7, 1, 10, nullptr, 0);
    for (const char* point : {"free: slot retired", "free: counted"}) {
        const ttmem_handle other = ttmem_allocate_cb(set, 7, 2, 10, nullptr, 0);
        stop_at(
            point, [&] { ttmem_free(other); }, [&] { ttmem_program_gone(7); });
    }
    const segment::Reader reader = own_reader();
    EXPECT_THAT(differences(reader, {}), IsEmpty());
    EXPECT_EQ(reader.inexact(Inexact::double_free) + reader.inexact(Inexact::unknown_free), 0u);
    ttmem_free(handle);
    EXPECT_EQ(reader.inexact(Inexact::double_free), 1u);
}

TRACKED_TEST(Race, ATagThatComesTooLateNamesNobodyElse) {
    const ttmem_set set = make_set();
    const ttmem_handle handle = ttmem_allocate(set, TTMEM_DRAM, 1, 10, 20, 1);
    // The tag has found its allocation live and is making its name, when that is freed and its slot used again.
    stop_at(
        "name: published", [&] { ttmem_tag(handle, "late"); },
        [&] {
            ttmem_free(handle);
            ttmem_allocate(set, TTMEM_DRAM, 2, 10, 20, 2);
        });
    const std::vector<Live> ledger = ledger_of(own_reader());
    ASSERT_EQ(ledger.size(), 1u);
    EXPECT_EQ(ledger[0].owner, 2u);
    EXPECT_EQ(ledger[0].name, "");
}

}  // namespace
