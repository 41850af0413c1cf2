// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "segment/writer.hpp"
#include "tests/model/atomic.hpp"
#include "tests/model/expect.hpp"
#include "tests/model/explore.hpp"
#include "tests/model/model_segment.hpp"
#include "tests/model/world.hpp"

// The writer of events (segment/writer.hpp) in every execution. Two promises depend on the order of its steps: a
// follower of the ring finds the ledger at least as new as the record, and a process killed at any point leaves at most
// one event in doubt, which its intent names. Each swapped pair of steps must be detected.

namespace ttmem::model {
namespace {

using segment::Step;
using std::memory_order_acquire;
using std::memory_order_relaxed;

constexpr std::uint64_t kLastGeneration = 3;  // allocate, free, allocate

template <Step... kSteps>
struct Ordered : ModelTraits {
    using Order = segment::StepOrder<kSteps...>;
};

using RingFirst = Ordered<Step::intent, Step::ring, Step::ledger, Step::counters, Step::clear>;
using CountersFirst = Ordered<Step::intent, Step::ledger, Step::counters, Step::ring, Step::clear>;
using LedgerFirst = Ordered<Step::ledger, Step::intent, Step::ring, Step::counters, Step::clear>;
using ClearedFirst = Ordered<Step::intent, Step::ledger, Step::ring, Step::clear, Step::counters>;

template <class Traits>
void write_events(ModelSegment<Traits>& segment) {
    for (std::uint64_t generation = 1; generation <= kLastGeneration; ++generation) {
        if (segment::is_live(generation)) {
            segment.allocate(0);
        } else {
            check(segment.free(0, generation - 1), "the only owner frees");
        }
    }
}

template <class Traits>
Result follower() {
    return explore({}, [=](World& world) {
        ModelSegment<Traits> segment;
        world.thread("writer", [&] { write_events(segment); });
        world.reader("follower", [&] {
            segment::RingPosition position;
            segment::follow_ring(segment.ring, kModelRing, segment.line.head, position,
                                 [&](const std::uint64_t(&record)[segment::kRecordWords]) {
                                     const std::uint64_t generation =
                                         segment::decode_event(record).slot.generation;
                                     check(segment.ledger[0].word[0].load(memory_order_acquire) >= generation,
                                           "who has the record finds the ledger as new");
                                 });
        });
        world.run();
    });
}

struct Remains {
    std::set<std::uint64_t> intents;
};

template <class Traits>
Result killed(Remains* remains = nullptr) {
    return explore({}, [=](World& world) {
        ModelSegment<Traits> segment;
        const ThreadId writer = world.thread(
            "writer", [&] { write_events(segment); }, Fate::may_be_killed);
        world.run();
        // For slot 0, the packed intent equals the generation.
        const std::uint64_t intent = segment.line.intent.load(memory_order_relaxed);
        const std::uint64_t generation = segment.ledger[0].generation();
        const std::uint64_t records = segment.line.head.load(memory_order_relaxed);
        const std::uint64_t used = segment.pool.used.load(memory_order_relaxed);
        const std::uint64_t count = segment.tally.count.load(memory_order_relaxed);
        const std::uint64_t live = segment::is_live(generation) ? kModelBytes : 0;
        if (intent == 0) {
            check(records == generation && used == live && used == count * kModelBytes,
                  "with no intent, ledger, ring and counters agree");
        } else {
            check(generation == intent || generation == intent - 1, "the intent names the event in doubt");
            check(generation == intent || (records == generation && used == live),
                  "what is not in the ledger is nowhere");
            check(records >= intent - 1, "only the event in doubt is missing in the ring");
            check(records == intent || used == (segment::is_live(intent - 1) ? kModelBytes : 0),
                  "what is not in the ring is not counted");
        }
        check(world.was_killed(writer) || (intent == 0 && generation == kLastGeneration),
              "a writer that is not killed finishes");
        if (remains != nullptr) {
            remains->intents.insert(intent);
        }
    });
}

TEST(EventModel, WhoHasTheRecordFindsTheLedgerAsNew) { EXPECT_PROVEN(follower<ModelTraits>()); }

TEST(EventModel, AKillLeavesOneEventInDoubtAndTheIntentNamesIt) {
    Remains remains;
    EXPECT_PROVEN(killed<ModelTraits>(&remains));
    EXPECT_THAT(remains.intents, testing::ElementsAre(0, 1, 2, 3));
}

TEST(EventModel, ARingBeforeTheLedgerIsCaught) {
    EXPECT_CAUGHT(follower<RingFirst>(), "who has the record finds the ledger as new");
    EXPECT_CAUGHT(killed<RingFirst>(), "what is not in the ledger is nowhere");
}

TEST(EventModel, CountersBeforeTheRingAreCaught) {
    EXPECT_CAUGHT(killed<CountersFirst>(), "what is not in the ring is not counted");
}

TEST(EventModel, ALedgerBeforeTheIntentIsCaught) {
    EXPECT_CAUGHT(killed<LedgerFirst>(), "with no intent, ledger, ring and counters agree");
}

TEST(EventModel, AnIntentClearedBeforeTheCountersIsCaught) {
    EXPECT_CAUGHT(killed<ClearedFirst>(), "with no intent, ledger, ring and counters agree");
}

}  // namespace
}  // namespace ttmem::model
