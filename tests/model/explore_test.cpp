// SPDX-License-Identifier: Apache-2.0
#include "tests/model/explore.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "tests/model/atomic.hpp"
#include "tests/model/world.hpp"

// Tests of the explorer itself: it runs exactly the expected number of executions.

namespace ttmem::model {
namespace {

using std::memory_order_acquire;
using std::memory_order_relaxed;
using std::memory_order_release;
using Word = Atomic<std::uint64_t>;

constexpr Options kEvery{.search = Search::every_interleaving};

// Runs `threads` threads, each with `stores` stores to its own atomic.
Result independent_stores(const Options& options, int threads, int stores) {
    return explore(options, [=](World& world) {
        Word x[4];
        for (int i = 0; i < threads; ++i) {
            world.thread("t" + std::to_string(i), [&x, i, stores] {
                for (int j = 0; j < stores; ++j) {
                    x[i].store(1, memory_order_relaxed);
                }
            });
        }
        world.run();
    });
}

TEST(Explore, CountsInterleavingsAsMultinomials) {
    EXPECT_EQ(independent_stores(kEvery, 1, 3).executions, 1U);
    EXPECT_EQ(independent_stores(kEvery, 2, 1).executions, 2U);
    EXPECT_EQ(independent_stores(kEvery, 2, 2).executions, 6U);
    EXPECT_EQ(independent_stores(kEvery, 2, 4).executions, 70U);
    EXPECT_EQ(independent_stores(kEvery, 3, 1).executions, 6U);
    EXPECT_EQ(independent_stores(kEvery, 3, 2).executions, 90U);
}

TEST(Explore, ReducedRunsIndependentStoresOnce) { EXPECT_EQ(independent_stores({}, 3, 4).executions, 1U); }

TEST(Explore, BoundsPreemptions) {
    EXPECT_EQ(independent_stores({.preemptions = 0}, 2, 2).executions, 2U);  // aabb bbaa
    EXPECT_EQ(independent_stores({.preemptions = 1}, 2, 2).executions, 4U);  // and abba baab
    EXPECT_EQ(independent_stores({.preemptions = 2}, 2, 2).executions, 6U);  // and abab baba
}

Result one_store_one_load(const Options& options) {
    return explore(options, [](World& world) {
        Word x;
        world.thread("writer", [&] { x.store(1, memory_order_relaxed); });
        world.thread("reader", [&] { x.load(memory_order_relaxed); });
        world.run();
    });
}

TEST(Explore, CountsReadChoices) {
    // The load before the store reads 0; after it, 0 or 1.
    EXPECT_EQ(one_store_one_load(kEvery).executions, 3U);
    EXPECT_EQ(one_store_one_load({}).executions, 2U);
}

TEST(Explore, CountsPlacesInModificationOrder) {
    const auto program = [](World& world) {
        Word x;
        world.thread("a", [&] { x.store(1, memory_order_relaxed); });
        world.thread("b", [&] { x.store(2, memory_order_relaxed); });
        world.run();
    };
    // Two interleavings. In each, the second store goes before or after the first in modification order.
    EXPECT_EQ(explore(kEvery, program).executions, 4U);
    EXPECT_EQ(explore({}, program).executions, 2U);
}

TEST(Explore, CountsOrdersOfReadModifyWrites) {
    const auto program = [](World& world) {
        Word x;
        for (const char* who : {"a", "b", "c"}) {
            world.thread(who, [&] { x.fetch_add(1, memory_order_relaxed); });
        }
        world.run();
    };
    EXPECT_EQ(explore(kEvery, program).executions, 6U);
    EXPECT_EQ(explore({}, program).executions, 6U);
}

TEST(Explore, KillsAThreadBeforeEachOfItsOperations) {
    std::set<std::vector<std::uint64_t>> outcomes;
    const Result result = explore({}, [&](World& world) {
        Word x;
        Word y;
        const ThreadId writer = world.thread(
            "writer",
            [&] {
                x.store(1, memory_order_relaxed);
                y.store(1, memory_order_relaxed);
            },
            Fate::may_be_killed);
        world.run();
        outcomes.insert(
            {x.load(memory_order_relaxed), y.load(memory_order_relaxed), world.was_killed(writer)});
    });
    EXPECT_EQ(result.executions, 3U);
    using V = std::vector<std::uint64_t>;
    EXPECT_THAT(outcomes, testing::ElementsAre(V{0, 0, 1}, V{1, 0, 1}, V{1, 1, 0}));
}

TEST(Explore, KillsAtMostAsManyThreadsAsAsked) {
    const auto dead = [](unsigned max_kills) {
        std::set<int> counts;
        explore({.max_kills = max_kills}, [&](World& world) {
            Word x;
            const auto body = [&] { x.fetch_add(1, memory_order_relaxed); };
            const ThreadId a = world.thread("a", body, Fate::may_be_killed);
            const ThreadId b = world.thread("b", body, Fate::may_be_killed);
            world.run();
            counts.insert(int{world.was_killed(a)} + int{world.was_killed(b)});
        });
        return counts;
    };
    EXPECT_THAT(dead(0), testing::ElementsAre(0));
    EXPECT_THAT(dead(1), testing::ElementsAre(0, 1));
    EXPECT_THAT(dead(2), testing::ElementsAre(0, 1, 2));
}

TEST(Explore, TriesEveryChoiceOfTheProgram) {
    std::set<std::size_t> seen;
    const Result result = explore({}, [&](World& world) {
        std::size_t chosen = 0;
        world.thread("a", [&] { chosen = 3 * world.choose(2); });
        world.run();
        seen.insert(chosen + world.choose(3));
    });
    EXPECT_EQ(result.executions, 6U);
    EXPECT_THAT(seen, testing::ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST(Explore, CutsAnEndlessThreadAndIsNoProofThen) {
    const Result result = explore({.max_steps = 20}, [](World& world) {
        Word flag;
        world.thread("writer", [&] { flag.store(1, memory_order_release); });
        world.reader("spinner", [&] {
            while (flag.load(memory_order_acquire) == 0) {
            }
        });
        world.run();
    });
    EXPECT_EQ(result.executions, 19U);
    EXPECT_EQ(result.truncated, 1U);
    EXPECT_FALSE(result.failure);
    EXPECT_FALSE(result.proven());
}

TEST(Explore, StopsAtTheExecutionLimitAndIsNoProofThen) {
    const Result result =
        independent_stores({.search = Search::every_interleaving, .max_executions = 10}, 2, 4);
    EXPECT_TRUE(result.limit_hit);
    EXPECT_EQ(result.executions, 10U);
    EXPECT_FALSE(result.proven());
}

TEST(Explore, NoticesAProgramThatDependsOnMoreThanItsChoices) {
    std::size_t runs = 0;
    const Result result = explore({}, [&](World& world) { world.choose(++runs < 2 ? 2 : 3); });
    ASSERT_TRUE(result.failure);
    EXPECT_EQ(result.failure->what, "the program depends on something beside its choices");
}

TEST(Explore, RejectsAReaderThatStores) {
    const Result result = explore({}, [](World& world) {
        Word x;
        world.reader("reader", [&] { x.store(1, memory_order_relaxed); });
        world.run();
    });
    ASSERT_TRUE(result.failure);
    EXPECT_EQ(result.failure->what, "a thread added as a reader stores");
}

TEST(Explore, RejectsALoadThatReleases) {
    const Result result = explore({}, [](World& world) {
        Word x;
        world.thread("a", [&] { x.load(memory_order_release); });
        world.run();
    });
    EXPECT_TRUE(result.failure);
}

TEST(Explore, ReportsAFailedCheckOfTheProgramItself) {
    const Result result = explore({}, [](World& world) {
        Word x;
        world.thread("a", [&] { x.store(7, memory_order_relaxed); });
        world.run();
        check(x.load(memory_order_relaxed) == 8, "eight");
    });
    ASSERT_TRUE(result.failure);
    EXPECT_EQ(result.failure->what, "eight");
    EXPECT_THAT(result.failure->trace, testing::HasSubstr("a     x0.store(relaxed) <- 7"));
}

}  // namespace
}  // namespace ttmem::model
