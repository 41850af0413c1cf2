// SPDX-License-Identifier: Apache-2.0

// What a reader gets while writers run: figures that are not "settling" are those of one moment.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <thread>
#include <vector>

#include "tests/support/child.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/own_segment.hpp"
#include "tests/support/wait.hpp"

namespace {

using namespace ttmem;
using namespace ttmem::test;
using segment::AllocationKind;
using segment::PoolTotals;

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr uint64_t kLooks = 20'000;
#else
constexpr uint64_t kLooks = 400'000;
#endif
constexpr uint64_t kRequested = 100;
constexpr uint64_t kReserved = 128;

// Allocates and frees a few allocations of one size, with pauses of varying length. Most reads then overlap one event,
// and consistent figures are those of a whole number of allocations.
void come_and_go(const std::atomic<bool>& stop, ttmem_set set, uint64_t seed) {
    std::mt19937_64 rng(seed);
    std::vector<ttmem_handle> live;
    while (!stop.load(std::memory_order_relaxed)) {
        if (live.size() < 8 && (live.empty() || rng() % 2 == 0)) {
            live.push_back(ttmem_allocate(set, TTMEM_L1, 0, kRequested, kReserved, 0));
        } else {
            ttmem_free(live.back());
            live.pop_back();
        }
        spin(rng() % 300);
    }
    for (const ttmem_handle handle : live) {
        ttmem_free(handle);
    }
}

template <class ReadTotals>
void expect_whole_numbers(unsigned writers, ReadTotals&& read_totals) {
    const ttmem_set set = make_set();
    std::atomic<bool> stop{false};
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < writers; ++i) {
        threads.emplace_back([&, i] { come_and_go(stop, set, i); });
    }
    const segment::Reader reader = own_reader();
    uint64_t settled = 0;
    uint64_t torn = 0;
    PoolTotals first_torn;
    for (uint64_t i = 0; i < kLooks || settled <= kLooks / 1000; ++i) {
        const segment::Totals totals = read_totals(reader);
        if (totals.settling) {
            continue;
        }
        ++settled;
        ASSERT_EQ(totals.sets.size(), 1u);
        const PoolTotals& pool = totals.sets[0].pools[static_cast<size_t>(AllocationKind::l1)];
        if (pool.count > uint64_t{8} * writers || pool.used != pool.count * kReserved ||
            pool.requested != pool.count * kRequested) {
            first_torn = torn++ == 0 ? pool : first_torn;
        }
    }
    stop.store(true);
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(torn, 0u) << "of " << settled << "; the first: used " << first_torn.used << " requested "
                        << first_torn.requested << " count " << first_torn.count;
    EXPECT_GT(settled, kLooks / 1000) << "too few to show anything";
}

TRACKED_TEST(ReaderBesideWriter, SettledCountersAreThoseOfOneMoment) {
    expect_whole_numbers(1, [](const segment::Reader& reader) { return reader.totals(); });
}

TRACKED_TEST(ReaderBesideWriter, SettledCountersOfTwoWritersAreThoseOfOneMoment) {
    expect_whole_numbers(2, [](const segment::Reader& reader) { return reader.totals(); });
}

TRACKED_TEST(ReaderBesideWriter, SettledSumsOfTheLedgerAreThoseOfOneMoment) {
    // The ledger always sums to a whole number of allocations, so that does not show an inconsistent read. The writer
    // below therefore keeps one or two allocations live at every moment, and a settled count must be 1 or 2.
    const ttmem_set set = make_set();
    std::atomic<bool> stop{false};
    std::thread writer([&] {
        ttmem_handle last = ttmem_allocate(set, TTMEM_L1, 0, kRequested, kReserved, 0);
        while (!stop.load(std::memory_order_relaxed)) {
            const ttmem_handle next = ttmem_allocate(set, TTMEM_L1, 0, kRequested, kReserved, 0);
            ttmem_free(last);
            last = next;
        }
        ttmem_free(last);
    });
    while (own_reader().events_written() < 10) {
        std::this_thread::yield();
    }
    const segment::Reader reader = own_reader();
    uint64_t settled = 0;
    for (uint64_t i = 0; i < kLooks || settled == 0; ++i) {
        const segment::Totals totals = reader.totals_from_ledger();
        if (!totals.settling) {
            ++settled;
            const uint64_t count = totals.sets.at(0).pools[static_cast<size_t>(AllocationKind::l1)].count;
            ASSERT_TRUE(count == 1 || count == 2) << count;
        }
    }
    stop.store(true);
    writer.join();
    EXPECT_GT(settled, 0u) << "too few to show anything";
}

// Slots are read one by one while others change. Each kept copy must be one allocation as it was reported.
TRACKED_TEST(ReaderBesideWriter, NoAllocationIsEverSeenTorn) {
    const ttmem_set set = make_set();
    std::atomic<bool> stop{false};
    std::vector<std::thread> threads;
    for (uint64_t thread = 0; thread < 2; ++thread) {
        threads.emplace_back([&, thread] {
            for (uint64_t n = thread << 32; !stop.load(std::memory_order_relaxed); ++n) {
                ttmem_free(ttmem_allocate(set, TTMEM_DRAM, n * 3, n & 0xffff, (n & 0xffff) * 5, n));
            }
        });
    }
    const segment::Reader reader = own_reader();
    uint64_t seen = 0;
    for (uint64_t i = 0; i < kLooks || seen <= kLooks / 100; ++i) {
        reader.for_each_live([&](segment::SlotRef ref, const segment::Allocation& a) {
            ++seen;
            EXPECT_TRUE(segment::is_live(ref.generation));
            EXPECT_EQ(a.address, a.owner * 3);
            EXPECT_EQ(a.requested, a.owner & 0xffff);
            EXPECT_EQ(a.reserved, (a.owner & 0xffff) * 5);
            return !testing::Test::HasFailure();
        });
        if (testing::Test::HasFailure()) {
            break;
        }
    }
    stop.store(true);
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_GT(seen, kLooks / 100) << "too few to show anything";
}

}  // namespace
