// SPDX-License-Identifier: Apache-2.0

// Threads: many at once, many after each other, more than there are rings, and what they do when they end.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <functional>
#include <set>
#include <thread>
#include <vector>

#include "tests/support/child.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/own_segment.hpp"
#include "tests/support/wait.hpp"
#include "tests/support/workload.hpp"
#include "ttmem/allocation_client.hpp"
#include "ttmem/ttmem.h"

namespace {

using namespace ttmem;
using namespace ttmem::test;
using segment::AllocationKind;
using segment::Inexact;
using testing::IsEmpty;
using Client = tt::tt_metal::AllocationClient;

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr uint64_t kTurns = 5'000;
#else
constexpr uint64_t kTurns = 100'000;
#endif

// Runs `body` in N threads, none of which goes on before all have started.
void in_threads(uint32_t count, const std::function<void(uint32_t number)>& body) {
    std::atomic<uint32_t> started{0};
    std::vector<std::thread> threads;
    for (uint32_t i = 0; i < count; ++i) {
        threads.emplace_back([&, i] {
            started.fetch_add(1);
            while (started.load() < count) {
                std::this_thread::yield();
            }
            body(i);
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
}

void expect_exact(const segment::Reader& reader) {
    for (uint32_t what = 0; what < segment::kInexactCounters; ++what) {
        EXPECT_EQ(reader.inexact(static_cast<Inexact>(what)), 0u)
            << segment::reason(static_cast<Inexact>(what));
    }
}

TRACKED_TEST(Threads, ThatComeFirstAllAtOnceMakeOneSegment) {
    std::atomic<ttmem_device> devices[8] = {};
    in_threads(8, [&](uint32_t i) { devices[i] = make_device(i); });
    EXPECT_EQ(count_own_descriptors(), 1u);
    std::set<ttmem_device> different;
    for (const auto& device : devices) {
        different.insert(device.load());
    }
    EXPECT_EQ(different.size(), 8u);
    EXPECT_FALSE(different.contains(0));
    EXPECT_EQ(own_reader().devices().size(), 8u);
}

TRACKED_TEST(Threads, TenThousandShortOnesLeaveExactStateAndFewLines) {
    const ttmem_set set = make_set();
    constexpr uint32_t kAtOnce = 8;
    constexpr uint32_t kThreads = 10'000;
    std::atomic<uint64_t> kept_bytes{0};
    std::vector<ttmem_handle> kept(kThreads);
    for (uint32_t first = 0; first < kThreads; first += kAtOnce) {
        std::vector<std::thread> threads;
        for (uint32_t i = first; i < first + kAtOnce; ++i) {
            threads.emplace_back([&, i] {
                ttmem_scope_push("short");
                const ttmem_handle passing = ttmem_allocate(set, TTMEM_L1, i, 7, 7, i);
                kept[i] = ttmem_allocate(set, TTMEM_DRAM, i, i, i, i);
                kept_bytes += i;
                ttmem_free(passing);
                if (i >= kAtOnce * 2) {
                    ttmem_free(kept[i - kAtOnce * 2]);  // what a thread that has ended long ago allocated
                    kept_bytes -= i - kAtOnce * 2;
                }
            });
        }
        for (std::thread& thread : threads) {
            thread.join();
        }
    }
    const segment::Reader reader = own_reader();
    EXPECT_EQ(ledger_of(reader).size(), kAtOnce * 2);
    EXPECT_THAT(differences(reader, ledger_of(reader)), IsEmpty());
    EXPECT_EQ(pool(reader, set, AllocationKind::dram).used, kept_bytes.load());
    EXPECT_EQ(reader.events_written(), 1 + kThreads * 4 - kAtOnce * 2);
    // A line goes from one thread to the next; a thread that starts before the last one has quite ended takes another.
    EXPECT_LE(reader.writers().size(), 4 * kAtOnce);
    EXPECT_LE(reader.slots_used(), 4 * kAtOnce * 64);
    expect_exact(reader);
}

TRACKED_TEST(Threads, ALineGoesOnAtTheSameHeadWithTheNextThread) {
    const ttmem_set set = make_set();
    for (int i = 0; i < 5; ++i) {
        std::thread([&] { ttmem_free(ttmem_allocate(set, TTMEM_L1, 0, 1, 1, 0)); }).join();
    }
    const segment::Reader reader = own_reader();
    const std::vector<segment::WriterState> writers = reader.writers();
    ASSERT_EQ(writers.size(), 2u);
    EXPECT_EQ(writers[0].thread, static_cast<uint32_t>(gettid()));
    EXPECT_EQ(writers[1].thread, 0u) << "nobody's";
    EXPECT_EQ(writers[1].written, 10u);
}

void work_with_writers(const char* writers, uint64_t sharing) {
    set_environment("TTMEM_WRITERS", writers);
    constexpr uint32_t kThreads = 16;
    const ttmem_set set = make_set();
    std::vector<ttmem_device> devices;
    for (uint32_t i = 0; i < kThreads; ++i) {
        devices.push_back(make_device(10 + i));
    }
    Exchange exchange;
    std::vector<std::unique_ptr<Worker>> workers;
    for (uint32_t i = 0; i < kThreads; ++i) {
        workers.push_back(std::make_unique<Worker>(5, i, set, devices[i], exchange));
    }
    // All of them take a line before one of them ends and gives it back.
    in_threads(kThreads, [&](uint32_t i) {
        static std::atomic<uint32_t> with_line{0};
        workers[i]->work(1);
        with_line.fetch_add(1);
        while (with_line.load() < kThreads) {
            std::this_thread::yield();
        }
        workers[i]->work(kTurns / 3);
    });
    std::vector<Live> expected;
    uint64_t events = 1;
    for (const auto& worker : workers) {
        const std::vector<Live> live = worker->live();
        expected.insert(expected.end(), live.begin(), live.end());
        events += worker->events;
    }
    for (const Item& item : exchange.take_all()) {
        expected.push_back(item.live);
    }
    const segment::Reader reader = own_reader();
    EXPECT_THAT(differences(reader, expected), IsEmpty());
    EXPECT_EQ(reader.events_written(), events);
    EXPECT_EQ(reader.inexact(Inexact::threads_share_ring), sharing);
    EXPECT_EQ(reader.inexact(Inexact::unknown_free), 0u);
}

// Of four lines the first is this thread's and the last the shared one.
TRACKED_TEST(Threads, MoreThanThereAreRingsShareOneAndStateStaysExact) { work_with_writers("4", 14); }

TRACKED_TEST(Threads, AllOnOneRingStayExact) { work_with_writers("1", 17); }

#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)  // which must see a thread's end
TRACKED_TEST(Threads, ThatDiedWithoutAWordGiveTheirLinesBackWhenTheyAreNeeded) {
    set_environment("TTMEM_WRITERS", "4");
    const ttmem_set set = make_set();
    for (int i = 0; i < 10; ++i) {
        std::thread([&] {
            ttmem_allocate(set, TTMEM_L1, 0, 1, 1, 0);
            syscall(SYS_exit, 0);  // no destructor runs
        }).join();
    }
    const segment::Reader reader = own_reader();
    EXPECT_EQ(pool(reader, set, AllocationKind::l1).count, 10u);
    EXPECT_EQ(reader.inexact(Inexact::threads_share_ring), 0u);
    EXPECT_THAT(differences(reader, ledger_of(reader)), IsEmpty());
}
#endif

// ---- what a thread does while it ends ----------------------------------------------------------------------------

struct AtEnd {
    ttmem_set set = 0;
    ~AtEnd() {
        if (set != 0) {
            ttmem_free(ttmem_allocate(set, TTMEM_L1, 0, 1, 1, 0));
            ttmem_allocate(set, TTMEM_DRAM, 0, 10, 10, 0);
        }
    }
};
thread_local AtEnd t_at_end;

TRACKED_TEST(ThreadEnd, EventsOfThreadLocalDestructorsAreRecorded) {
    const ttmem_set set = make_set();
    for (int i = 0; i < 20; ++i) {
        std::thread([&] {
            t_at_end.set = set;
        }).join();  // the first event of this thread is in its destructor
        std::thread([&] {
            t_at_end.set = set;
            ttmem_allocate(set, TTMEM_L1, 0, 5, 5, 0);
        }).join();
    }
    const segment::Reader reader = own_reader();
    EXPECT_EQ(pool(reader, set, AllocationKind::dram).count, 40u);
    EXPECT_EQ(pool(reader, set, AllocationKind::l1).used, 100u);
    EXPECT_THAT(differences(reader, ledger_of(reader)), IsEmpty());
    EXPECT_LE(reader.writers().size(), 3u);
    expect_exact(reader);
}

ttmem_set g_set_of_keys;
std::vector<pthread_key_t> g_keys;

void end_of_key(void* left) {
    ttmem_allocate(g_set_of_keys, TTMEM_DRAM, 0, 10, 10, 0);
    // Comes back for the next round of destructors, after the client's own.
    if (const auto rounds = reinterpret_cast<uintptr_t>(left); rounds > 1) {
        for (const pthread_key_t key : g_keys) {
            if (pthread_getspecific(key) == nullptr) {
                pthread_setspecific(key, reinterpret_cast<void*>(rounds - 1));
                break;
            }
        }
    }
}

#if defined(__SANITIZE_THREAD__)  // ends its own part of the thread in the last round, before our keys
constexpr uintptr_t kKeyRounds = 2;
#else
constexpr uintptr_t kKeyRounds = 3;
#endif

// Keys made before and after the client's own: destructors run in the order of the keys, in several rounds.
TRACKED_TEST(ThreadEnd, EventsOfKeyDestructorsAreRecordedBeforeAndAfterTheLineWasGivenBack) {
    g_keys.resize(2);
    ASSERT_EQ(pthread_key_create(&g_keys[0], end_of_key), 0);
    g_set_of_keys = make_set();
    ASSERT_EQ(pthread_key_create(&g_keys[1], end_of_key), 0);
    constexpr uint64_t kThreads = 50;
    for (uint64_t i = 0; i < kThreads; ++i) {
        std::thread([&] {
            ttmem_free(ttmem_allocate(g_set_of_keys, TTMEM_L1, 0, 1, 1, 0));
            pthread_setspecific(g_keys[0], reinterpret_cast<void*>(kKeyRounds));
            pthread_setspecific(g_keys[1], reinterpret_cast<void*>(kKeyRounds));
        }).join();
    }
    const segment::Reader reader = own_reader();
    EXPECT_EQ(pool(reader, g_set_of_keys, AllocationKind::dram).count, kThreads * 2 * kKeyRounds);
    EXPECT_EQ(pool(reader, g_set_of_keys, AllocationKind::dram).count * 10,
              pool(reader, g_set_of_keys, AllocationKind::dram).used);
    EXPECT_THAT(differences(reader, ledger_of(reader)), IsEmpty());
    EXPECT_LE(reader.writers().size(), 4u) << "lines are lost";
    expect_exact(reader);
}

// ---- several threads on the same thing ---------------------------------------------------------------------------

// All add, all wait, all take away: the highest sum is that of the round, whatever order the additions had.
TRACKED_TEST(Threads, PeakOfAdditionsAtOnceIsTheirSum) {
    constexpr uint32_t kThreads = 4;
    const uint64_t rounds = kTurns / 25;
    const ttmem_set set = make_set();
    const segment::Reader reader = own_reader();
    std::atomic<uint64_t> arrived{0};
    const auto meet = [&] {
        const uint64_t mine = arrived.fetch_add(1);
        while (arrived.load() < (mine / kThreads + 1) * kThreads) {
            std::this_thread::yield();
        }
    };
    uint64_t peak = 0;
    in_threads(kThreads, [&](uint32_t number) {
        for (uint64_t round = 0; round < rounds; ++round) {
            const uint64_t size = round + number;  // so each round has a new peak
            std::array<ttmem_handle, 10> mine{};
            for (ttmem_handle& handle : mine) {
                handle = ttmem_allocate(set, TTMEM_L1, 0, 1, size, 0);
            }
            meet();
            if (number == 0) {
                peak = 10 * (4 * round + 6);
                EXPECT_EQ(pool(reader, set, AllocationKind::l1).peak, peak);
            }
            meet();
            for (const ttmem_handle handle : mine) {
                ttmem_free(handle);
            }
            meet();
        }
    });
    EXPECT_EQ(pool(reader, set, AllocationKind::l1).peak, peak);
    EXPECT_EQ(pool(reader, set, AllocationKind::l1).used, 0u);
}

// One event at a time, by threads in turn: then the order is known, and so is the peak at each step.
TRACKED_TEST(Threads, PeakOfEventsInTurnIsTheHighestSumOfThatOrder) {
    constexpr uint32_t kThreads = 4;
    constexpr uint64_t kSteps = 4'000;
    const ttmem_set set = make_set();
    const segment::Reader reader = own_reader();
    std::atomic<uint64_t> step{0};
    uint64_t used = 0;
    uint64_t peak = 0;
    std::vector<std::pair<ttmem_handle, uint64_t>> live;
    in_threads(kThreads, [&](uint32_t number) {
        for (uint64_t mine = number; mine < kSteps; mine += kThreads) {
            while (step.load() != mine) {
                std::this_thread::yield();
            }
            const uint64_t random = (mine + 1) * 0x9e3779b97f4a7c15;
            if (live.empty() || random >> 63 == 0) {
                const uint64_t size = random >> 40 & 0xffff;
                live.emplace_back(ttmem_allocate(set, TTMEM_L1, 0, 1, size, 0), size);
                used += size;
            } else {  // mostly what another thread allocated
                ttmem_free(live.back().first);
                used -= live.back().second;
                live.pop_back();
            }
            peak = std::max(peak, used);
            EXPECT_EQ(pool(reader, set, AllocationKind::l1).used, used);
            EXPECT_EQ(pool(reader, set, AllocationKind::l1).peak, peak);
            step.store(mine + 1);
        }
    });
    EXPECT_THAT(differences(reader, ledger_of(reader)), IsEmpty());
}

TRACKED_TEST(Threads, ThatFreeTheSameThingFreeItOnce) {
    constexpr uint32_t kThreads = 4;
    const ttmem_set set = make_set();
    const uint64_t rounds = kTurns / 10;
    std::vector<ttmem_handle> handles(rounds);
    for (ttmem_handle& handle : handles) {
        handle = ttmem_allocate(set, TTMEM_DRAM, 0, 10, 20, 0);
    }
    in_threads(kThreads, [&](uint32_t) {
        for (const ttmem_handle handle : handles) {
            ttmem_free(handle);
        }
    });
    const segment::Reader reader = own_reader();
    EXPECT_THAT(differences(reader, {}), IsEmpty());
    EXPECT_EQ(reader.inexact(Inexact::double_free), rounds * (kThreads - 1));
}

TRACKED_TEST(Threads, ThatLoadTheSameKernelLoadItOnce) {
    constexpr uint32_t kThreads = 4;
    const ttmem_set set = make_set();
    const uint64_t programs = kTurns / 10;
    std::vector<std::vector<ttmem_handle>> handles(kThreads, std::vector<ttmem_handle>(programs));
    in_threads(kThreads, [&](uint32_t number) {
        for (uint64_t program = 0; program < programs; ++program) {
            handles[number][program] = ttmem_load_kernel(set, program, TTMEM_KERNEL_APPLICATION, 10);
        }
    });
    for (uint32_t i = 1; i < kThreads; ++i) {
        EXPECT_EQ(handles[i], handles[0]);
    }
    EXPECT_EQ(pool(own_reader(), set, AllocationKind::kernel_application).used, programs * 10);
}

TRACKED_TEST(Threads, ProgramsEndWhileTheirBuffersAreFreedOneByOne) {
    const ttmem_set set = make_set();
    const uint64_t rounds = kTurns / 20;
    std::vector<std::vector<ttmem_handle>> handles(rounds);
    for (uint64_t program = 0; program < rounds; ++program) {
        for (uint64_t i = 0; i < 8; ++i) {
            handles[program].push_back(ttmem_allocate_cb(set, program, i, 10, nullptr, 0));
        }
    }
    in_threads(3, [&](uint32_t number) {
        for (uint64_t program = 0; program < rounds; ++program) {
            if (number == 0) {
                ttmem_program_gone(program);
            } else if (number == 1) {
                for (const ttmem_handle handle : handles[program]) {
                    ttmem_free(handle);
                }
            } else {
                ttmem_allocate_cb(set, program, 100, 10, nullptr, 0);
            }
        }
    });
    for (uint64_t program = 0; program < rounds; ++program) {
        ttmem_program_gone(program);
    }
    const segment::Reader reader = own_reader();
    EXPECT_THAT(differences(reader, {}), IsEmpty());
    EXPECT_EQ(reader.inexact(Inexact::unknown_free), 0u);
}

TRACKED_TEST(Threads, ReportsByAddressOnOneDeviceAgreeWithTheirSum) {
    constexpr uint32_t kThreads = 4;
    in_threads(kThreads, [&](uint32_t number) {
        for (uint64_t i = 0; i < kTurns; ++i) {
            const uint64_t own = (uint64_t{number} + 1) << 32 | (i % 500 + 1) * 32;
            const uint64_t common = (i % 10 + 1) * 32;  // all threads hold references to these
            Client::report_allocation(0, 100, 0, own);
            Client::report_allocation(0, 1000, 1, common);
            Client::report_cb_allocation(0, 10, common);
            Client::report_kernel_load(0, 5, i % 10);
            Client::report_deallocation(0, own);
            Client::report_cb_deallocation(0, 10, common);
            Client::report_deallocation(0, common);
        }
        Client::report_allocation(static_cast<int>(number), 100, 0, uint64_t{number + 1} << 40);
    });
    const segment::Reader reader = own_reader();
    const std::vector<Live> left = ledger_of(reader);
    EXPECT_EQ(left.size(), 10 + kThreads) << "ten kernels, and one buffer of each thread";
    EXPECT_THAT(differences(reader, left), IsEmpty());
    EXPECT_EQ(reader.inexact(Inexact::unknown_free), 0u);
    EXPECT_EQ(reader.inexact(Inexact::ambiguous_free), 0u);
}

TRACKED_TEST(Threads, SetsAreOpenedAndClosedWhileOthersAllocateInThem) {
    const ttmem_device device = make_device(0);
    std::atomic<ttmem_set> current{ttmem_open_set(&device, 1, nullptr)};
    std::atomic<bool> stop{false};
    in_threads(3, [&](uint32_t number) {
        if (number == 0) {
            for (uint64_t i = 0; i < kTurns / 10; ++i) {
                const ttmem_set old = current.load();
                const ttmem_set next = ttmem_open_set(&device, 1, nullptr);
                EXPECT_NE(next, 0u);
                current.store(next);
                ttmem_close_set(old);
            }
            stop.store(true);
            return;
        }
        // A bounded number in each set: two threads allocate faster than one closes, and each close would find more.
        constexpr uint32_t kPerSet = 1000;
        ttmem_set filled = 0;
        uint32_t made = 0;
        while (!stop.load()) {
            const ttmem_set set = current.load();
            made = set == filled ? made + 1 : 0;
            filled = set;
            if (made >= kPerSet) {
                std::this_thread::yield();
                continue;
            }
            const ttmem_handle handle = ttmem_allocate(set, TTMEM_L1, 0, 10, 20, 0);
            if (made % 2 == 0) {
                ttmem_free(handle);
            }
        }
    });
    // An allocation that raced with the close of its set may be left; using the entry again sweeps it up.
    ttmem_close_set(current.load());
    for (uint32_t i = 0; i < segment::kMaxSets; ++i) {
        EXPECT_NE(ttmem_open_set(&device, 1, nullptr), 0u);
    }
    EXPECT_THAT(differences(own_reader(), {}), IsEmpty());
}

}  // namespace
