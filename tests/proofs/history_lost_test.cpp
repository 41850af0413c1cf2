// SPDX-License-Identifier: Apache-2.0

// History may be lost, state never. Rings of 16 records lose almost everything, but pools, ledger and a follower of the
// rings all equal what was reported. One variant has writers and readers in one process and one mapping, for the
// sanitizers; the other runs across processes, as in real use.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <numeric>
#include <thread>
#include <vector>

#include "tests/support/child.hpp"
#include "tests/support/follower.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/own_segment.hpp"
#include "tests/support/wait.hpp"
#include "tests/support/workload.hpp"

namespace {

using namespace ttmem;
using namespace ttmem::test;
using segment::Inexact;
using testing::IsEmpty;

constexpr uint64_t kSeed = 20260107;
constexpr uint32_t kWriters = 4;
constexpr int kRounds = 3;
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr uint64_t kOperations = 4'000;
#else
constexpr uint64_t kOperations = 100'000;
#endif

// Several workers on one shared set. Each has a device and a set of its own.
class Crew {
public:
    Crew() {
        const ttmem_device devices[2] = {make_device(0), make_device(1)};
        shared_ = ttmem_open_set(devices, 2, "mesh");
        for (uint32_t i = 0; i < kWriters; ++i) {
            workers_.push_back(std::make_unique<Worker>(kSeed, i, shared_, make_device(10 + i), exchange_));
        }
    }

    // Runs all workers concurrently to their end.
    void work() {
        std::vector<std::thread> threads;
        for (auto& worker : workers_) {
            threads.emplace_back([&worker] { worker->work(kOperations); });
        }
        for (std::thread& thread : threads) {
            thread.join();
        }
    }

    std::vector<Live> live() {
        std::vector<Live> result;
        for (const auto& worker : workers_) {
            const std::vector<Live> more = worker->live();
            result.insert(result.end(), more.begin(), more.end());
        }
        for (Item& item : exchange_.take_all()) {
            result.push_back(item.live);
            exchange_.put(std::move(item));
        }
        return result;
    }

    uint64_t events() const {
        return std::accumulate(workers_.begin(), workers_.end(),
                               uint64_t{1},  // opening the shared set is one event
                               [](uint64_t sum, const auto& worker) { return sum + worker->events; });
    }

    uint64_t inexact(Inexact what) const {
        return std::accumulate(workers_.begin(), workers_.end(), uint64_t{0},
                               [&](uint64_t sum, const auto& worker) {
                                   return sum + worker->inexact[static_cast<size_t>(what)];
                               });
    }

private:
    Exchange exchange_;
    ttmem_set shared_ = 0;
    std::vector<std::unique_ptr<Worker>> workers_;
};

void expect_equal(const segment::Reader& reader, Crew& crew) {
    EXPECT_THAT(differences(reader, crew.live()), IsEmpty());
    EXPECT_EQ(reader.events_written(), crew.events());
    for (uint32_t what = 0; what < segment::kInexactCounters; ++what) {
        EXPECT_EQ(reader.inexact(static_cast<Inexact>(what)), crew.inexact(static_cast<Inexact>(what)))
            << segment::reason(static_cast<Inexact>(what));
    }
}

void expect_knows(Follower& follower, const segment::Reader& reader, const std::vector<Live>& live) {
    follower.follow(reader);
    EXPECT_EQ(follower.live(), Follower::known_of(live));
    EXPECT_EQ(follower.kept() + follower.lost() + follower.before(), reader.events_written());
}

// Follows until stopped, and attaches again every few reads.
void come_and_go(const std::atomic<bool>& stop, const std::function<segment::Reader()>& attach) {
    for (uint64_t round = 0; !stop.load(); ++round) {
        const segment::Reader reader = attach();
        Follower follower(reader,
                          round % 2 == 0 ? Follower::Start::from_now : Follower::Start::from_the_beginning);
        for (uint64_t i = 0; i < 20 && !stop.load(); ++i) {
            follower.follow(reader);
            std::this_thread::yield();
        }
        reader.totals();
    }
}

TRACKED_TEST(HistoryLost, StateOfSeveralThreadsEqualsTheOracleWhileRingsLoseAlmostAll) {
    set_environment("TTMEM_RING_RECORDS", "16");
    Crew crew;
    const segment::Reader reader = own_reader();
    Follower from_the_start(reader, Follower::Start::from_the_beginning);
    std::atomic<bool> stop{false};
    std::thread visitor([&] { come_and_go(stop, own_reader); });
    std::thread faithful([&] {
        while (!stop.load()) {
            from_the_start.follow(reader);
            std::this_thread::yield();
        }
    });
    for (int round = 0; round < kRounds; ++round) {
        crew.work();
    }
    stop.store(true);
    visitor.join();
    faithful.join();

    const std::vector<Live> live = crew.live();
    expect_equal(reader, crew);
    expect_knows(from_the_start, reader, live);
    EXPECT_GT(from_the_start.scans(), 1u) << "nothing was lost, so nothing was shown";
    EXPECT_EQ(from_the_start.before(), 0u);

    // A follower that starts now has lost everything except the content of the rings, and ends with the same state.
    const segment::Reader again = own_reader();
    Follower late(again, Follower::Start::from_the_beginning);
    expect_knows(late, again, live);
    EXPECT_LE(late.kept(), uint64_t{kWriters + 1} * 15);
    EXPECT_GT(late.lost(), reader.events_written() * 99 / 100);
}

TRACKED_TEST(HistoryLost, FollowerThatWasAwayLearnsTheTruthWhenItComesBack) {
    set_environment("TTMEM_RING_RECORDS", "16");
    Crew crew;
    const segment::Reader reader = own_reader();
    Follower stopped(reader, Follower::Start::from_now);
    for (int round = 0; round < kRounds; ++round) {
        crew.work();
        expect_knows(stopped, reader, crew.live());
        expect_equal(reader, crew);
    }
}

TRACKED_TEST(HistoryLost, FollowerThatKeepsUpWithAnAmpleRingLosesNothingAndNeverScansAgain) {
    set_environment("TTMEM_RING_RECORDS", std::to_string(segment::kMaxRingRecords / 8));
    set_environment("TTMEM_WRITERS", "8");
    Crew crew;
    const segment::Reader reader = own_reader();
    Follower follower(reader, Follower::Start::from_the_beginning);
    crew.work();
    follower.follow(reader);
    crew.work();
    expect_knows(follower, reader, crew.live());
    EXPECT_EQ(follower.lost(), 0u);
    EXPECT_EQ(follower.scans(), 1u);
    expect_equal(reader, crew);
}

// What the child that writes reports to the parent.
struct Verdict {
    std::atomic<uint32_t> rounds_done;
    std::atomic<uint32_t> rounds_allowed;
    std::atomic<uint64_t> events;
    std::atomic<uint64_t> live;
    std::atomic<uint64_t> fingerprint;
};

// A hash of a list of allocations, so that both sides can be compared by one number.
uint64_t fingerprint(std::vector<Live> live) {
    std::sort(live.begin(), live.end());
    uint64_t hash = 14695981039346656037u;
    for (const Live& a : live) {
        for (const char c : to_text(a)) {
            hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
        }
    }
    return hash;
}

void write_in_rounds(Verdict& verdict) {
    Crew crew;
    for (uint32_t round = 1; round <= kRounds; ++round) {
        ASSERT_TRUE(wait_until([&] { return verdict.rounds_allowed.load() >= round; }));
        crew.work();
        const std::vector<Live> live = crew.live();
        verdict.events = crew.events();
        verdict.live = live.size();
        verdict.fingerprint = fingerprint(live);
        verdict.rounds_done = round;
    }
    ASSERT_TRUE(wait_until([&] { return verdict.rounds_allowed.load() > kRounds; }));
}

TEST(HistoryLost, AnotherProcessReadsTheTruthThroughEveryRound) {
    void* page = mmap(nullptr, sizeof(Verdict), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(page, MAP_FAILED);
    auto& verdict = *static_cast<Verdict*>(page);
    const pid_t writer = fork();
    if (writer == 0) {
        set_environment("TT_ALLOC_TRACKING_ENABLED", "1");
        set_environment("TTMEM_RUNTIME_DIR", "/nonexistent");
        set_environment("TTMEM_RING_RECORDS", "16");
        write_in_rounds(verdict);
        _exit(testing::Test::HasFailure() ? 1 : 0);
    }
    const segment::Reader reader = reader_of(writer);
    Follower from_the_start(reader, Follower::Start::from_the_beginning);
    std::atomic<bool> stop{false};
    std::thread visitor([&] { come_and_go(stop, [&] { return reader_of(writer); }); });
    for (uint32_t round = 1; round <= kRounds; ++round) {
        verdict.rounds_allowed = round;
        ASSERT_TRUE(wait_until([&] {
            from_the_start.follow(reader);
            return verdict.rounds_done.load() == round;
        }));
        const std::vector<Live> ledger = ledger_of(reader);
        EXPECT_EQ(ledger.size(), verdict.live.load());
        EXPECT_EQ(fingerprint(ledger), verdict.fingerprint.load());
        EXPECT_THAT(differences(reader, ledger), IsEmpty());
        expect_knows(from_the_start, reader, ledger);
        EXPECT_EQ(reader.events_written(), verdict.events.load());
    }
    stop.store(true);
    visitor.join();
    verdict.rounds_allowed = kRounds + 1;
    EXPECT_EQ(wait_for_child(writer).code, 0);
    munmap(page, sizeof(Verdict));
}

}  // namespace
