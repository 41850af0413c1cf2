// SPDX-License-Identifier: Apache-2.0

// Kills at every named point of the hot path, where the exact state afterwards is known. The points are read from the
// sources, so a new point without a line in the table below fails the test.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <string>

#include "tests/crash/shared_log.hpp"
#include "tests/crash/verdict.hpp"
#include "tests/crash/victim.hpp"
#include "tests/support/wait.hpp"

namespace {

using namespace ttmem;
using namespace ttmem::crash;
using testing::IsEmpty;

// The state that a single thread leaves if it dies at a point. A second free of the same allocation also reaches the
// first point of a free; then neither ledger nor ring has it.
struct Facts {
    enum class Event { none, allocation, free } event;
    bool in_ledger = false;
    bool in_ring = false;
    bool counted = false;  // valid only if the ledger has the event
};

const std::map<std::string, Facts> kFacts = {
    {"allocate: intent set", {Facts::Event::allocation, false, false, false}},
    {"allocate: slot published", {Facts::Event::allocation, true, false, false}},
    {"allocate: event written", {Facts::Event::allocation, true, true, false}},
    {"allocate: counted", {Facts::Event::allocation, true, true, true}},
    {"free: intent set", {Facts::Event::free, false, false, false}},
    {"free: slot retired", {Facts::Event::free, true, false, false}},
    {"free: event written", {Facts::Event::free, true, true, false}},
    {"free: counted", {Facts::Event::free, true, true, true}},
    {"name: published", {Facts::Event::none}},
};

std::set<std::string> points_in_sources() {
    std::set<std::string> points;
    const std::regex pattern("TTMEM_TEST_POINT\\(\"([^\"]+)\"\\)");
    for (const auto& file : std::filesystem::recursive_directory_iterator(TTMEM_SOURCE_DIR "/src/client")) {
        std::ifstream stream(file.path());
        const std::string text{std::istreambuf_iterator<char>(stream), {}};
        for (std::sregex_iterator at(text.begin(), text.end(), pattern), end; at != end; ++at) {
            points.insert((*at)[1]);
        }
    }
    return points;
}

[[noreturn]] void die() {
    kill(getpid(), SIGKILL);
    for (;;) {
        pause();
    }
}

// The thread that reaches the point for the n-th time kills the process.
Plan kill_at(const std::string& point, unsigned nth, uint32_t threads) {
    Plan plan;
    plan.seed = nth * 31 + threads;
    plan.threads = threads;
    plan.at_point = [point, left = std::make_shared<std::atomic<int>>(static_cast<int>(nth))](
                        uint32_t, const char* name) {
        if (name == point && left->fetch_sub(1) == 1) {
            die();
        }
    };
    return plan;
}

Verdict verdict_after(const Plan& plan) {
    const LogOwner log;
    Victim victim(plan, *log);
    log->go.store(1);
    EXPECT_EQ(victim.signal(), SIGKILL) << "the point was not reached";
    return examine(victim.segment(), *log);
}

unsigned nth_of(const std::string& point, unsigned round) {
    return point == "name: published" ? 1 + round % 4 : 1 + round * 37;  // there are only a few names
}

TEST(TestPoints, EveryPointOfTheSourcesIsInTheTableAndEveryLineOfTheTableInTheSources) {
    std::set<std::string> known;
    for (const auto& [point, facts] : kFacts) {
        known.insert(point);
    }
    EXPECT_EQ(points_in_sources(), known);
}

TEST(TestPoints, DeathOfASingleThreadLeavesExactlyWhatThePointSays) {
    for (const auto& [point, facts] : kFacts) {
        for (unsigned round = 0; round < 5; ++round) {
            SCOPED_TRACE(point + ", time " + std::to_string(nth_of(point, round)));
            const Verdict verdict = verdict_after(kill_at(point, nth_of(point, round), 1));
            ASSERT_THAT(verdict.problems, IsEmpty());
            ASSERT_EQ(verdict.in_flight.size(), facts.event == Facts::Event::none ? 0u : 1u);
            for (const InFlight& flight : verdict.in_flight) {
                // A second free of the same allocation reaches the first point of a free and no other.
                EXPECT_TRUE(!flight.bad_free || point == "free: intent set");
                EXPECT_EQ(segment::is_live(flight.event.generation), facts.event == Facts::Event::allocation);
                EXPECT_EQ(flight.in_ledger, facts.in_ledger);
                EXPECT_EQ(flight.in_ring, facts.in_ring);
                const bool adds_bytes = flight.allocation && flight.allocation->used() != 0;
                EXPECT_TRUE(!facts.in_ledger || !adds_bytes || flight.counted == facts.counted);
            }
        }
    }
}

TEST(TestPoints, DeathOfOneOfSeveralThreadsLeavesAtMostOneEventOfEachInDoubt) {
    for (const auto& [point, facts] : kFacts) {
        for (unsigned round = 0; round < 3; ++round) {
            SCOPED_TRACE(point + ", time " + std::to_string(nth_of(point, round)));
            const Verdict verdict = verdict_after(kill_at(point, nth_of(point, round), 3));
            ASSERT_THAT(verdict.problems, IsEmpty());
            EXPECT_LE(verdict.in_flight.size(), 3u);
            EXPECT_GE(verdict.in_flight.size(), facts.event == Facts::Event::none ? 0u : 1u);
        }
    }
}

// Stops each thread at a different point, all in the middle of an event, and then kills the process.
TEST(TestPoints, OneEventOfEachThreadInFlightAtTheSameTimeIsToldApart) {
    std::vector<std::string> points;
    for (const auto& [point, facts] : kFacts) {
        if (facts.event != Facts::Event::none) {
            points.push_back(point);
        }
    }
    for (size_t round = 0; round < 2 * points.size(); ++round) {
        SCOPED_TRACE("round " + std::to_string(round));
        const LogOwner log;
        Plan plan;
        plan.seed = round;
        plan.threads = kMostThreads;
        plan.buffers_only = true;
        const auto hits = std::make_shared<std::array<unsigned, kMostThreads>>();
        plan.at_point = [&, hits](uint32_t worker, const char* name) {
            if (name == points[(round + size_t{3} * worker) % points.size()] &&
                (*hits)[worker]++ == 20 + round) {
                log->stopped.fetch_add(1);
                for (;;) {
                    pause();
                }
            }
        };
        Victim victim(plan, *log);
        log->go.store(1);
        ASSERT_TRUE(test::wait_until([&] { return log->stopped.load() == kMostThreads; }));
        victim.kill();
        ASSERT_EQ(victim.signal(), SIGKILL);
        const Verdict verdict = examine(victim.segment(), *log);
        ASSERT_THAT(verdict.problems, IsEmpty());
        ASSERT_EQ(verdict.in_flight.size(), kMostThreads);
        for (const InFlight& flight : verdict.in_flight) {
            const Facts& facts = kFacts.at(points[(round + size_t{3} * flight.worker) % points.size()]);
            EXPECT_EQ(segment::is_live(flight.event.generation), facts.event == Facts::Event::allocation);
            EXPECT_EQ(flight.in_ledger, facts.in_ledger);
            EXPECT_EQ(flight.in_ring, facts.in_ring);
        }
    }
}

}  // namespace
