// SPDX-License-Identifier: Apache-2.0
#include "tests/model/axioms.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>

#include "tests/model/atomic.hpp"
#include "tests/model/explore.hpp"
#include "tests/model/world.hpp"

// Compares the explorer with the axioms of the memory model. On random small programs both must give the same outcomes,
// with and without the reduction.

namespace ttmem::model {
namespace {

using Word = Atomic<std::uint64_t>;

StraightProgram random_program(std::mt19937& random, std::size_t threads, std::size_t operations) {
    const auto pick = [&](std::size_t options) { return static_cast<std::size_t>(random() % options); };
    constexpr std::memory_order kLoads[] = {std::memory_order_relaxed, std::memory_order_acquire};
    constexpr std::memory_order kStores[] = {std::memory_order_relaxed, std::memory_order_release};
    constexpr std::memory_order kBoth[] = {std::memory_order_relaxed, std::memory_order_acquire,
                                           std::memory_order_release, std::memory_order_acq_rel};
    constexpr Action kActions[] = {Action::load,  Action::load,     Action::store,
                                   Action::store, Action::exchange, Action::compare_exchange};
    StraightProgram program;
    program.locations = 1 + pick(3);
    program.threads.resize(threads);
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < operations; ++i) {
        Operation op;
        op.action = kActions[pick(std::size(kActions))];
        op.location = static_cast<LocationId>(pick(program.locations));
        op.operand = op.action == Action::load ? 0 : ++value;
        op.expected = pick(operations / 2);
        op.failure_order = kLoads[pick(2)];
        op.order = op.action == Action::load    ? kLoads[pick(2)]
                   : op.action == Action::store ? kStores[pick(2)]
                                                : kBoth[pick(4)];
        program.threads[i % threads].push_back(op);
    }
    return program;
}

std::uint64_t perform(Word& word, const Operation& op) {
    switch (op.action) {
        case Action::load:
            return word.load(op.order);
        case Action::store:
            word.store(op.operand, op.order);
            return 0;
        case Action::exchange:
            return word.exchange(op.operand, op.order);
        default:
            break;
    }
    std::uint64_t expected = op.expected;
    word.compare_exchange_strong(expected, op.operand, op.order, op.failure_order);
    return expected;
}

struct Explored {
    std::set<StraightOutcome> outcomes;
    Result result;
};

Explored explored_outcomes(const StraightProgram& program, const Options& options) {
    Explored explored;
    explored.result = explore(options, [&](World& world) {
        Word words[3];
        std::vector<StraightOutcome> read(program.threads.size());
        for (std::size_t t = 0; t < program.threads.size(); ++t) {
            read[t].resize(program.threads[t].size());
            bool only_loads = true;
            for (const Operation& op : program.threads[t]) {
                only_loads = only_loads && op.action == Action::load;
            }
            const auto body = [&, t] {
                for (std::size_t i = 0; i < program.threads[t].size(); ++i) {
                    read[t][i] = perform(words[program.threads[t][i].location], program.threads[t][i]);
                }
            };
            if (only_loads) {
                world.reader("t" + std::to_string(t), body);
            } else {
                world.thread("t" + std::to_string(t), body);
            }
        }
        world.run();
        StraightOutcome outcome;
        for (const auto& values : read) {
            outcome.insert(outcome.end(), values.begin(), values.end());
        }
        for (std::size_t i = 0; i < program.locations; ++i) {
            const auto history = world.history(words[i].location());
            outcome.push_back(history.size());
            outcome.insert(outcome.end(), history.begin(), history.end());
        }
        explored.outcomes.insert(outcome);
    });
    return explored;
}

struct Shape {
    std::size_t threads;
    std::size_t operations;
    int programs;
};

class RandomPrograms : public testing::TestWithParam<Shape> {};

TEST_P(RandomPrograms, HaveExactlyTheAllowedOutcomes) {
    std::mt19937 random(20240607);
    for (int i = 0; i < GetParam().programs; ++i) {
        const StraightProgram program = random_program(random, GetParam().threads, GetParam().operations);
        const auto allowed = allowed_outcomes(program);
        const Explored reduced = explored_outcomes(program, {});
        ASSERT_TRUE(reduced.result.proven());
        ASSERT_EQ(reduced.outcomes, allowed) << "program " << i << ", reduced";
        if (i % 8 != 0) {
            continue;  // full exploration is slow, so it runs for some programs only
        }
        const Explored every = explored_outcomes(program, {.search = Search::every_interleaving});
        ASSERT_TRUE(every.result.proven());
        ASSERT_EQ(every.outcomes, allowed) << "program " << i << ", every interleaving";
        ASSERT_GE(every.result.executions, reduced.result.executions);
    }
}

// Random programs seldom pass a message on through a read-modify-write, so this shape is tested with all its orders.
TEST(Axioms, AllowExactlyTheExploredReleaseSequences) {
    constexpr std::memory_order kLoads[] = {std::memory_order_relaxed, std::memory_order_acquire};
    constexpr std::memory_order kStores[] = {std::memory_order_relaxed, std::memory_order_release};
    constexpr std::memory_order kBoth[] = {std::memory_order_relaxed, std::memory_order_acquire,
                                           std::memory_order_release, std::memory_order_acq_rel};
    for (unsigned i = 0; i < 256; ++i) {
        const auto bit = [&](unsigned at) { return (i >> at) & 1U; };
        StraightProgram program;
        program.locations = 2;
        program.threads = {
            {{.action = Action::store, .location = 0, .order = kStores[bit(0)], .operand = 1},
             {.action = Action::store, .location = 1, .order = kStores[bit(1)], .operand = 2}},
            {{.action = bit(7) != 0 ? Action::exchange : Action::compare_exchange,
              .location = 1,
              .order = kBoth[bit(2) + 2 * bit(3)],
              .failure_order = kLoads[bit(4)],
              .operand = 3,
              .expected = 2},
             {.action = Action::load, .location = 0, .order = std::memory_order_relaxed}},
            {{.action = Action::load, .location = 1, .order = kLoads[bit(5)]},
             {.action = Action::load, .location = 0, .order = kLoads[bit(6)]}},
        };
        ASSERT_EQ(explored_outcomes(program, {}).outcomes, allowed_outcomes(program)) << "program " << i;
    }
}

INSTANTIATE_TEST_SUITE_P(Axioms, RandomPrograms,
                         testing::Values(Shape{2, 4, 800}, Shape{2, 6, 300}, Shape{3, 5, 800},
                                         Shape{3, 6, 300}, Shape{4, 5, 400}),
                         [](const auto& shape) {
                             return std::to_string(shape.param.threads) + "Threads" +
                                    std::to_string(shape.param.operations) + "Operations";
                         });

}  // namespace
}  // namespace ttmem::model
