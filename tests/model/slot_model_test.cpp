// SPDX-License-Identifier: Apache-2.0
#include "segment/slot.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "tests/model/atomic.hpp"
#include "tests/model/expect.hpp"
#include "tests/model/explore.hpp"
#include "tests/model/world.hpp"

// The slot protocol in every execution: a copy that a reader keeps is the payload of exactly one generation, and if
// several threads free an allocation, one of them wins. Then the same with one weakened step, which must be detected.

namespace ttmem::model {
namespace {

using segment::BasicSlot;
using segment::SlotOrders;
using std::memory_order_acquire;
using std::memory_order_relaxed;
using std::memory_order_release;
using Word = Atomic<std::uint64_t>;

constexpr std::size_t kWords = 3;

template <class Orders = SlotOrders>
using Slot = BasicSlot<Word, kWords, Orders>;

// ---- weakened variants ------------------------------------------------------------------------------------

struct RelaxedPayloadStore : SlotOrders {
    static constexpr auto payload_store = memory_order_relaxed;
};
struct RelaxedPublish : SlotOrders {
    static constexpr auto publish = memory_order_relaxed;
};
struct RelaxedGenerationLoad : SlotOrders {
    static constexpr auto generation_load = memory_order_relaxed;
};
struct RelaxedPayloadLoad : SlotOrders {
    static constexpr auto payload_load = memory_order_relaxed;
};
struct RetireOnlyReleases : SlotOrders {
    static constexpr auto retire = memory_order_release;
};
struct RetireOnlyAcquires : SlotOrders {
    static constexpr auto retire = memory_order_acquire;
};

struct NotRechecked : Slot<> {
    std::uint64_t read(std::uint64_t (&payload)[kPayloadWords]) const {
        const std::uint64_t before = word[0].load(memory_order_acquire);
        for (std::size_t i = 0; i < kPayloadWords; ++i) {
            payload[i] = word[1 + i].load(memory_order_acquire);
        }
        return segment::is_live(before) ? before : 0;
    }
};

struct GenerationFirst : Slot<> {
    void publish(const std::uint64_t (&payload)[kPayloadWords], std::uint64_t live_generation) {
        word[0].store(live_generation, memory_order_release);
        for (std::size_t i = 0; i < kPayloadWords; ++i) {
            word[1 + i].store(payload[i], memory_order_release);
        }
    }
};

// Goes from one live generation to the next without a free one in between.
struct NeverFree : Slot<> {
    bool retire(std::uint64_t /*live_generation*/) { return true; }
};

struct RetiresWithoutSwap : Slot<> {
    bool retire(std::uint64_t live_generation) {
        if (word[0].load(memory_order_acquire) != live_generation) {
            return false;
        }
        word[0].store(segment::next_generation(live_generation), memory_order_release);
        return true;
    }
};

// ---- the programs -----------------------------------------------------------------------------------------

template <class S>
struct Named : S {
    Named() {
        name(this->word[0], "generation");
        for (std::size_t i = 1; i <= S::kPayloadWords; ++i) {
            name(this->word[i], "word" + std::to_string(i));
        }
    }
};

constexpr std::uint64_t payload_word(std::uint64_t generation, std::size_t i) { return 100 * generation + i; }

template <class S>
void publish(S& slot, std::uint64_t generation) {
    std::uint64_t payload[S::kPayloadWords];
    for (std::size_t i = 0; i < S::kPayloadWords; ++i) {
        payload[i] = payload_word(generation, i);
    }
    slot.publish(payload, generation);
}

template <class S>
std::uint64_t read(const S& slot) {
    std::uint64_t payload[S::kPayloadWords];
    const std::uint64_t generation = slot.read(payload);
    for (std::size_t i = 0; generation != 0 && i < S::kPayloadWords; ++i) {
        check(payload[i] == payload_word(generation, i), "a kept copy is one generation's payload");
    }
    return generation;
}

/// The generations that were kept in some execution. Shows that the proof covers copies that are kept.
struct Kept {
    std::set<std::uint64_t> generations;
};

// One thread allocates, frees and reuses the slot, twice, while a reader reads twice.
template <class S>
Result reuse_by_one_thread(Kept* kept = nullptr, Fate fate = Fate::lives, int lives = 3) {
    return explore({}, [=](World& world) {
        Named<S> slot;
        world.thread(
            "writer",
            [&, lives] {
                std::uint64_t generation = 1;
                for (int life = 1; life < lives; ++life, generation += 2) {
                    publish(slot, generation);
                    check(slot.retire(generation), "the only owner frees");
                }
                publish(slot, generation);
            },
            fate);
        std::uint64_t first = 0;
        std::uint64_t second = 0;
        world.reader("reader", [&] {
            first = read(slot);
            second = read(slot);
            check(second == 0 || second >= first, "generations rise");
        });
        world.run();
        // After the writer's death no thread interferes, so a live slot must be readable.
        const std::uint64_t last = read(slot);
        check(last == (segment::is_live(slot.generation()) ? slot.generation() : 0),
              "the last state can be read");
        if (kept != nullptr) {
            kept->generations.insert({first, second, last});
        }
    });
}

// The slot passes from one thread to another through a free list: a single word, whose order stands for the private
// mutex.
template <class S>
Result reuse_by_another_thread(std::memory_order put = memory_order_release,
                               std::memory_order take = memory_order_acquire) {
    return explore({}, [=](World& world) {
        Named<S> slot;
        Word free_list;
        name(free_list, "free list");
        world.thread("a", [&] {
            publish(slot, 1);
            slot.retire(1);
            free_list.store(1, put);
        });
        world.thread("b", [&] {
            if (free_list.load(take) == 1) {
                const std::uint64_t generation = segment::next_generation(slot.generation());
                check(generation == 3, "the new owner knows the generation");
                publish(slot, generation);
            }
        });
        world.reader("reader", [&] { read(slot); });
        world.run();
    });
}

// How the owner of an allocation passes it to the threads that free it, and whether the winner reuses the slot.
struct Handing {
    std::memory_order give = memory_order_release;
    std::memory_order take = memory_order_acquire;
    bool winner_reuses = true;

    bool is_ordered() const { return is_release(give) && is_acquire(take); }
};

constexpr Handing kUnordered{.give = memory_order_relaxed, .take = memory_order_relaxed};

// Two threads free the same allocation. The winner reads the freed payload and reuses the slot.
template <class S>
Result double_free(const Handing& handing, std::set<int>* winners = nullptr) {
    return explore({}, [=](World& world) {
        Named<S> slot;
        Word handle;
        name(handle, "handle");
        int wins[2] = {};
        int tries[2] = {};
        world.thread("owner", [&] {
            publish(slot, 1);
            handle.store(1, handing.give);
        });
        for (int i = 0; i < 2; ++i) {
            world.thread("freer " + std::to_string(i), [&, i] {
                if (handle.load(handing.take) == 0) {
                    return;
                }
                tries[i] = 1;
                if (!slot.retire(1)) {
                    return;
                }
                wins[i] = 1;
                for (std::size_t w = 0; w < S::kPayloadWords; ++w) {
                    check(slot.word[1 + w].load(memory_order_relaxed) == payload_word(1, w),
                          "the winner sees what it freed");
                }
                if (handing.winner_reuses) {
                    publish(slot, segment::next_generation(slot.generation()));
                }
            });
        }
        world.reader("reader", [&] { read(slot); });
        world.run();
        const int won = wins[0] + wins[1];
        check(won <= 1, "of several frees not two win");
        check(won == 1 || !handing.is_ordered() || tries[0] + tries[1] == 0, "of several frees one wins");
        check(slot.generation() == 1U + (handing.winner_reuses ? 2U : 1U) * static_cast<unsigned>(won),
              "the generation tells how often the slot was freed");
        if (winners != nullptr) {
            winners->insert(wins[0] + 2 * wins[1]);
        }
    });
}

// The writer stores its intent, makes the change, and clears the intent. A reader that sees the change sees the intent
// or its end, never the state before it.
template <class S>
Result change_and_intent() {
    return explore({}, [](World& world) {
        Named<S> slot;
        Word intent;
        name(intent, "intent");
        world.thread("writer", [&] {
            for (std::uint64_t generation = 1; generation <= 2; ++generation) {
                intent.store(10 * generation, memory_order_release);
                if (segment::is_live(generation)) {
                    publish(slot, generation);
                } else {
                    slot.retire(generation - 1);
                }
                intent.store(10 * generation + 1, memory_order_release);
            }
        });
        world.reader("reader", [&] {
            const std::uint64_t generation = slot.word[0].load(SlotOrders::generation_load);
            check(intent.load(memory_order_relaxed) >= 10 * generation,
                  "who sees a change sees its intent or its end");
        });
        world.run();
    });
}

// ---- the proofs -------------------------------------------------------------------------------------------

constexpr const char* kTorn = "a kept copy is one generation's payload";

TEST(SlotModel, AKeptCopyIsOneGenerationsPayload) {
    Kept kept;
    EXPECT_PROVEN(reuse_by_one_thread<Slot<>>(&kept));
    EXPECT_THAT(kept.generations, testing::ElementsAre(0, 1, 3, 5));
}

TEST(SlotModel, AKeptCopyIsWholeInASlotOfFullSize) {
    using FullSlot = BasicSlot<Word, 8>;
    EXPECT_PROVEN(reuse_by_one_thread<FullSlot>(nullptr, Fate::lives, 2));
}

TEST(SlotModel, AKilledWriterLeavesNoBadSlot) {
    Kept kept;
    EXPECT_PROVEN(reuse_by_one_thread<Slot<>>(&kept, Fate::may_be_killed));
    EXPECT_THAT(kept.generations, testing::ElementsAre(0, 1, 3, 5));
}

TEST(SlotModel, ASlotGoesFromThreadToThread) { EXPECT_PROVEN(reuse_by_another_thread<Slot<>>()); }

TEST(SlotModel, OfTwoFreesOneWins) {
    std::set<int> winners;
    EXPECT_PROVEN(double_free<Slot<>>({}, &winners));
    EXPECT_THAT(winners, testing::ElementsAre(0, 1, 2));
}

// If a handle reached another thread without ordering, a free may fail because the allocation is not visible yet. A
// free that succeeds sees the payload.
TEST(SlotModel, WhoFreesWithAHandleFromNowhereSeesThePayload) {
    std::set<int> winners;
    EXPECT_PROVEN(double_free<Slot<>>(kUnordered, &winners));
    EXPECT_THAT(winners, testing::ElementsAre(0, 1, 2));
}

TEST(SlotModel, WhoSeesAChangeSeesItsIntent) { EXPECT_PROVEN(change_and_intent<Slot<>>()); }

TEST(SlotModel, ARelaxedPayloadStoreIsCaught) {
    EXPECT_CAUGHT(reuse_by_one_thread<Slot<RelaxedPayloadStore>>(), kTorn);
    EXPECT_CAUGHT(reuse_by_another_thread<Slot<RelaxedPayloadStore>>(), kTorn);
}

TEST(SlotModel, ARelaxedPublishIsCaught) {
    EXPECT_CAUGHT(reuse_by_one_thread<Slot<RelaxedPublish>>(), kTorn);
}

TEST(SlotModel, ARelaxedGenerationLoadIsCaught) {
    EXPECT_CAUGHT(reuse_by_one_thread<Slot<RelaxedGenerationLoad>>(), kTorn);
}

TEST(SlotModel, ARelaxedPayloadLoadIsCaught) {
    EXPECT_CAUGHT(reuse_by_one_thread<Slot<RelaxedPayloadLoad>>(), kTorn);
}

TEST(SlotModel, ARetireThatDoesNotAcquireIsCaught) {
    EXPECT_CAUGHT(double_free<Slot<RetireOnlyReleases>>(kUnordered), "the winner sees what it freed");
}

TEST(SlotModel, ARetireThatDoesNotReleaseIsCaught) {
    EXPECT_CAUGHT(change_and_intent<Slot<RetireOnlyAcquires>>(),
                  "who sees a change sees its intent or its end");
}

TEST(SlotModel, AGenerationThatIsNotRecheckedIsCaught) {
    EXPECT_CAUGHT(reuse_by_one_thread<NotRechecked>(), kTorn);
}

TEST(SlotModel, AGenerationPublishedBeforeThePayloadIsCaught) {
    EXPECT_CAUGHT(reuse_by_one_thread<GenerationFirst>(), kTorn);
}

TEST(SlotModel, AReuseWithoutAFreeStepIsCaught) { EXPECT_CAUGHT(reuse_by_one_thread<NeverFree>(), kTorn); }

TEST(SlotModel, ARetireWithoutCompareAndSwapIsCaught) {
    EXPECT_CAUGHT(double_free<RetiresWithoutSwap>({.winner_reuses = false}), "of several frees not two win");
}

TEST(SlotModel, AFreeListWithoutOrderIsCaught) {
    EXPECT_CAUGHT(reuse_by_another_thread<Slot<>>(memory_order_relaxed, memory_order_acquire), kTorn);
    EXPECT_CAUGHT(reuse_by_another_thread<Slot<>>(memory_order_release, memory_order_relaxed), kTorn);
}

}  // namespace
}  // namespace ttmem::model
