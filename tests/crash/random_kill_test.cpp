// SPDX-License-Identifier: Apache-2.0

// Kills at random times: 400 kills of victims with one thread, several threads, and short-lived threads.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <random>

#include "tests/crash/shared_log.hpp"
#include "tests/crash/verdict.hpp"
#include "tests/crash/victim.hpp"
#include "tests/support/wait.hpp"

namespace {

using namespace ttmem;
using namespace ttmem::crash;

Plan plan_of(uint64_t seed, uint32_t threads, bool short_threads) {
    Plan plan;
    plan.seed = seed;
    plan.threads = threads;
    plan.short_threads = short_threads;
    return plan;
}

// Kills N victims, each after a random number of operations and a random pause.
void kill_often(unsigned kills, Plan plan) {
    std::mt19937_64 rng(plan.seed);
    unsigned in_flight = 0;
    unsigned in_ledger = 0;
    for (unsigned i = 0; i < kills && !testing::Test::HasFailure(); ++i) {
        const LogOwner log;
        plan.seed = rng();
        SCOPED_TRACE("kill " + std::to_string(i) + ", seed " + std::to_string(plan.seed));
        Victim victim(plan, *log);
        ASSERT_TRUE(victim.segment()) << "the victim has no segment";
        ASSERT_TRUE(victim.run_until(1 + rng() % 4'000)) << "the victim does not get on";
        test::spin(rng() % 3'000);
        base::Descriptor segment = victim.segment();
        victim.kill();
        ASSERT_EQ(victim.signal(), SIGKILL);
        const Verdict verdict = examine(std::move(segment), *log);
        EXPECT_THAT(verdict.problems, testing::IsEmpty());
        EXPECT_LE(verdict.in_flight.size(), plan.threads);
        for (const InFlight& flight : verdict.in_flight) {
            ++in_flight;
            in_ledger += flight.in_ledger ? 1 : 0;
        }
    }
    std::cout << kills << " kills left " << in_flight << " events in flight; " << in_ledger
              << " of them in the ledger\n";
}

TEST(RandomKill, OfOneThreadLeavesALedgerThatEqualsItsLog) { kill_often(200, plan_of(1, 1, false)); }

TEST(RandomKill, OfSeveralThreadsLeavesALedgerThatEqualsTheirLogs) { kill_often(120, plan_of(2, 4, false)); }

TEST(RandomKill, OfThreadsThatComeAndGoLeavesALedgerThatEqualsTheirLogs) {
    kill_often(80, plan_of(3, 3, true));
}

}  // namespace
