// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <utility>

#include "tests/model/atomic.hpp"
#include "tests/model/explore.hpp"
#include "tests/model/world.hpp"

// The classic litmus tests, whose outcomes under the C++ memory model are known.

namespace ttmem::model {
namespace {

using std::memory_order;
using std::memory_order_acq_rel;
using std::memory_order_acquire;
using std::memory_order_relaxed;
using std::memory_order_release;
using Word = Atomic<std::uint64_t>;
using Pair = std::pair<std::uint64_t, std::uint64_t>;

Result message_passing(memory_order store, memory_order load) {
    return explore({}, [=](World& world) {
        Word data;
        Word ready;
        name(data, "data");
        name(ready, "ready");
        world.thread("writer", [&] {
            data.store(42, memory_order_relaxed);
            ready.store(1, store);
        });
        world.reader("reader", [&] {
            if (ready.load(load) == 1) {
                check(data.load(memory_order_relaxed) == 42, "who sees the flag sees the data");
            }
        });
        world.run();
    });
}

TEST(Litmus, MessagePassingHoldsWithReleaseAndAcquire) {
    const Result result = message_passing(memory_order_release, memory_order_acquire);
    EXPECT_TRUE(result.proven()) << result.text();
}

TEST(Litmus, MessagePassingFailsWithARelaxedStore) {
    EXPECT_TRUE(message_passing(memory_order_relaxed, memory_order_acquire).failure);
}

TEST(Litmus, MessagePassingFailsWithARelaxedLoad) {
    const Result result = message_passing(memory_order_release, memory_order_relaxed);
    ASSERT_TRUE(result.failure);
    EXPECT_EQ(result.failure->what, "who sees the flag sees the data");
    EXPECT_THAT(result.failure->trace, testing::HasSubstr("ready.store(release) <- 1"));
    EXPECT_THAT(result.failure->trace, testing::HasSubstr("ready.load(relaxed) -> 1"));
    EXPECT_THAT(result.failure->trace, testing::HasSubstr("data.load(relaxed) -> 0"));
    EXPECT_THAT(result.failure->trace, testing::HasSubstr("read message 0 of main (1 newer)"));
}

TEST(Litmus, StoreBufferingIsFoundWithReleaseAndAcquire) {
    std::set<Pair> outcomes;
    const Result result = explore({}, [&](World& world) {
        Word x;
        Word y;
        Pair read{9, 9};
        world.thread("a", [&] {
            x.store(1, memory_order_release);
            read.first = y.load(memory_order_acquire);
        });
        world.thread("b", [&] {
            y.store(1, memory_order_release);
            read.second = x.load(memory_order_acquire);
        });
        world.run();
        outcomes.insert(read);
    });
    EXPECT_TRUE(result.proven()) << result.text();
    EXPECT_THAT(outcomes, testing::ElementsAre(Pair{0, 0}, Pair{0, 1}, Pair{1, 0}, Pair{1, 1}));
}

TEST(Litmus, AThreadNeverReadsBackwards) {
    const Result result = explore({}, [](World& world) {
        Word x;
        world.thread("writer", [&] {
            x.store(1, memory_order_relaxed);
            x.store(2, memory_order_relaxed);
        });
        world.reader("reader", [&] {
            const auto first = x.load(memory_order_relaxed);
            check(x.load(memory_order_relaxed) >= first, "the second load is not older");
        });
        world.run();
    });
    EXPECT_TRUE(result.proven()) << result.text();
}

TEST(Litmus, TwoReadersAgreeOnTheOrderOfStoresToOneLocation) {
    const Result result = explore({}, [](World& world) {
        Word x;
        Pair a;
        Pair b;
        world.thread("one", [&] { x.store(1, memory_order_relaxed); });
        world.thread("two", [&] { x.store(2, memory_order_relaxed); });
        world.reader("a", [&] {
            a.first = x.load(memory_order_relaxed);
            a.second = x.load(memory_order_relaxed);
        });
        world.reader("b", [&] {
            b.first = x.load(memory_order_relaxed);
            b.second = x.load(memory_order_relaxed);
        });
        world.run();
        check(!(a == Pair{1, 2} && b == Pair{2, 1}), "opposite orders");
    });
    EXPECT_TRUE(result.proven()) << result.text();
}

TEST(Litmus, TwoReadersMayDisagreeOnTheOrderOfStoresToTwoLocations) {
    bool disagreed = false;
    explore({}, [&](World& world) {
        Word x;
        Word y;
        Pair a;
        Pair b;
        world.thread("x", [&] { x.store(1, memory_order_release); });
        world.thread("y", [&] { y.store(1, memory_order_release); });
        world.reader("a", [&] {
            a.first = x.load(memory_order_acquire);
            a.second = y.load(memory_order_acquire);
        });
        world.reader("b", [&] {
            b.first = y.load(memory_order_acquire);
            b.second = x.load(memory_order_acquire);
        });
        world.run();
        disagreed = disagreed || (a == Pair{1, 0} && b == Pair{1, 0});
    });
    EXPECT_TRUE(disagreed);
}

TEST(Litmus, StoresCrossInModificationOrder) {
    // Each thread's first store is last in modification order, which is impossible if stores took effect in execution
    // order.
    bool crossed = false;
    explore({}, [&](World& world) {
        Word x;
        Word y;
        world.thread("a", [&] {
            x.store(1, memory_order_release);
            y.store(2, memory_order_release);
        });
        world.thread("b", [&] {
            y.store(1, memory_order_release);
            x.store(2, memory_order_release);
        });
        world.run();
        crossed = crossed || (x.load(memory_order_relaxed) == 1 && y.load(memory_order_relaxed) == 1);
    });
    EXPECT_TRUE(crossed);
}

TEST(Litmus, KnowledgeIsHandedOnThroughAThirdThread) {
    const Result result = explore({}, [](World& world) {
        Word x;
        Word y;
        Word z;
        world.thread("a", [&] { x.store(1, memory_order_relaxed), y.store(1, memory_order_release); });
        world.thread("b", [&] {
            if (y.load(memory_order_acquire) == 1) {
                z.store(1, memory_order_release);
            }
        });
        world.reader("c", [&] {
            if (z.load(memory_order_acquire) == 1) {
                check(x.load(memory_order_relaxed) == 1, "c knows what b knew");
            }
        });
        world.run();
    });
    EXPECT_TRUE(result.proven()) << result.text();
}

Result release_sequence(bool by_modification) {
    return explore({}, [=](World& world) {
        Word data;
        Word flag;
        world.thread("writer", [&] {
            data.store(1, memory_order_relaxed);
            flag.store(1, memory_order_release);
        });
        world.thread("other", [&] {
            if (by_modification) {
                flag.fetch_add(10, memory_order_relaxed);
            } else if (flag.load(memory_order_relaxed) == 1) {
                flag.store(11, memory_order_relaxed);
            }
        });
        world.reader("reader", [&] {
            if (flag.load(memory_order_acquire) == 11) {
                check(data.load(memory_order_relaxed) == 1, "the release reaches the reader");
            }
        });
        world.run();
    });
}

TEST(Litmus, ARelaxedReadModifyWriteCarriesOnARelease) {
    const Result result = release_sequence(true);
    EXPECT_TRUE(result.proven()) << result.text();
}

TEST(Litmus, ARelaxedStoreEndsARelease) { EXPECT_TRUE(release_sequence(false).failure); }

TEST(Litmus, NoReadModifyWriteIsLost) {
    const Result result = explore({}, [](World& world) {
        Word x;
        for (const char* who : {"a", "b", "c"}) {
            world.thread(who, [&] { x.fetch_add(1, memory_order_relaxed); });
        }
        world.run();
        check(x.load(memory_order_relaxed) == 3, "three additions");
    });
    EXPECT_TRUE(result.proven()) << result.text();
}

TEST(Litmus, ALoadAndAStoreLoseAnAddition) {
    const Result result = explore({}, [](World& world) {
        Word x;
        for (const char* who : {"a", "b"}) {
            world.thread(who, [&] {
                const auto seen = x.load(memory_order_acquire);
                x.store(seen + 1, memory_order_release);
            });
        }
        world.run();
        check(x.load(memory_order_relaxed) == 2, "two additions");
    });
    EXPECT_TRUE(result.failure);
}

TEST(Litmus, OfTwoCompareAndSwapsOneWins) {
    std::set<Pair> outcomes;
    const Result result = explore({}, [&](World& world) {
        Word x;
        Pair won;
        world.thread("a", [&] {
            std::uint64_t expected = 0;
            won.first = x.compare_exchange_strong(expected, 1, memory_order_acq_rel, memory_order_relaxed);
            check(won.first == 1 || expected == 2, "the loser sees the winner's value");
        });
        world.thread("b", [&] {
            std::uint64_t expected = 0;
            won.second = x.compare_exchange_strong(expected, 2, memory_order_acq_rel, memory_order_relaxed);
        });
        world.run();
        outcomes.insert(won);
    });
    EXPECT_TRUE(result.proven()) << result.text();
    EXPECT_THAT(outcomes, testing::ElementsAre(Pair{0, 1}, Pair{1, 0}));
}

TEST(Litmus, AWeakCompareAndSwapMayFailForNoReason) {
    std::set<std::uint64_t> outcomes;
    explore({}, [&](World& world) {
        Word x;
        std::uint64_t won = 9;
        world.thread("a", [&] {
            std::uint64_t expected = 0;
            won = x.compare_exchange_weak(expected, 1, memory_order_acq_rel, memory_order_relaxed);
        });
        world.run();
        outcomes.insert(won);
    });
    EXPECT_THAT(outcomes, testing::ElementsAre(0, 1));
}

TEST(Litmus, ArithmeticWrapsAtTheWidthOfTheType) {
    const Result result = explore({}, [](World& world) {
        Atomic<std::uint32_t> x{5};
        world.thread("a", [&] {
            check(x.fetch_sub(6, memory_order_relaxed) == 5, "old value");
            check(x.fetch_add(3, memory_order_relaxed) == 0xffff'ffff, "below zero");
            check(x.fetch_or(5, memory_order_relaxed) == 2, "wrapped");
            check(x.fetch_and(6, memory_order_relaxed) == 7, "or");
            check(x.fetch_xor(3, memory_order_relaxed) == 6, "and");
            check(x.exchange(1, memory_order_relaxed) == 5, "xor");
        });
        world.run();
        check(x.load(memory_order_relaxed) == 1, "exchange");
    });
    EXPECT_TRUE(result.proven()) << result.text();
}

struct SeqlockOrders {
    memory_order payload_store = memory_order_release;
    memory_order payload_load = memory_order_acquire;
};

Result seqlock(const SeqlockOrders& orders) {
    return explore({}, [=](World& world) {
        Word sequence;
        Word a;
        Word b;
        world.thread("writer", [&] {
            for (std::uint64_t round = 1; round <= 2; ++round) {
                sequence.store(2 * round - 1, memory_order_release);
                a.store(round, orders.payload_store);
                b.store(round, orders.payload_store);
                sequence.store(2 * round, memory_order_release);
            }
        });
        world.reader("reader", [&] {
            const auto before = sequence.load(memory_order_acquire);
            const auto first = a.load(orders.payload_load);
            const auto second = b.load(orders.payload_load);
            if (before % 2 == 0 && sequence.load(memory_order_relaxed) == before) {
                check(first == before / 2 && second == before / 2, "a kept copy is whole");
            }
        });
        world.run();
    });
}

TEST(Litmus, AFenceFreeSeqlockHolds) {
    const Result result = seqlock({});
    EXPECT_TRUE(result.proven()) << result.text();
}

TEST(Litmus, ASeqlockWithRelaxedPayloadLoadsFails) {
    EXPECT_TRUE(seqlock({.payload_load = memory_order_relaxed}).failure);
}

TEST(Litmus, ASeqlockWithRelaxedPayloadStoresFails) {
    EXPECT_TRUE(seqlock({.payload_store = memory_order_relaxed}).failure);
}

}  // namespace
}  // namespace ttmem::model
