// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <set>
#include <utility>

#include "segment/ring.hpp"
#include "segment/slot.hpp"
#include "tests/model/atomic.hpp"
#include "tests/model/expect.hpp"
#include "tests/model/explore.hpp"
#include "tests/model/world.hpp"

// One event touches five things, in the order intent, ledger, ring, counters, intent cleared. These are the
// promises that rest on this order: a follower of the ring finds the ledger at least as new as the record,
// and a process killed anywhere leaves one event in doubt at most, which its intent names. Each step out of
// its place must be seen.
//
// The steps are the protocols of src/segment; their order is written down here once more, as in
// src/client/recorder.hpp.

namespace ttmem::model {
namespace {

using std::memory_order_acq_rel;
using std::memory_order_acquire;
using std::memory_order_relaxed;
using std::memory_order_release;
using Word = Atomic<std::uint64_t>;

constexpr std::uint64_t kCapacity = 2;
constexpr std::uint64_t kBytes = 64;

enum class Part : std::uint8_t { intent, ledger, ring, counters, cleared };

using Order = std::array<Part, 5>;

constexpr Order kOrder = {Part::intent, Part::ledger, Part::ring, Part::counters, Part::cleared};

struct Segment {
    segment::BasicSlot<Word, 2> slot;
    segment::BasicRecord<Word> ring[kCapacity];
    Word head;
    Word used;
    Word intent;

    Segment() {
        name(slot.word[0], "generation");
        name(slot.word[1], "payload");
        name(head, "head");
        name(used, "used");
        name(intent, "intent");
    }

    // The event that brings the slot to `generation`: an allocation if that is odd, else a free.
    void record(std::uint64_t generation, const Order& order) {
        for (const Part part : order) {
            step(part, generation);
        }
    }

private:
    void step(Part part, std::uint64_t generation) {
        const bool allocates = segment::is_live(generation);
        switch (part) {
            case Part::intent:
                intent.store(generation, memory_order_release);
                return;
            case Part::cleared:
                intent.store(0, memory_order_release);
                return;
            case Part::counters:
                used.fetch_add(allocates ? kBytes : std::uint64_t{0} - kBytes, memory_order_acq_rel);
                return;
            case Part::ring: {
                const std::uint64_t record[segment::kRecordWords] = {generation, 0, 0, 0};
                segment::append_record(ring, kCapacity, head, record);
                return;
            }
            case Part::ledger:
                if (allocates) {
                    const std::uint64_t payload[1] = {kBytes};
                    slot.publish(payload, generation);
                } else {
                    check(slot.retire(generation - 1), "the only owner frees");
                }
        }
    }
};

Result follower(const Order& order) {
    return explore({}, [=](World& world) {
        Segment segment;
        world.thread("writer", [&] {
            for (std::uint64_t generation = 1; generation <= 3; ++generation) {
                segment.record(generation, order);
            }
        });
        world.reader("follower", [&] {
            segment::RingPosition position;
            segment::follow_ring(segment.ring, kCapacity, segment.head, position,
                                 [&](const std::uint64_t(&record)[segment::kRecordWords]) {
                                     check(segment.slot.word[0].load(memory_order_acquire) >= record[0],
                                           "who has the record finds the ledger as new");
                                 });
        });
        world.run();
    });
}

struct Remains {
    std::set<std::uint64_t> intents;
};

Result killed(const Order& order, Remains* remains = nullptr) {
    return explore({}, [=](World& world) {
        Segment segment;
        const ThreadId writer = world.thread(
            "writer",
            [&] {
                for (std::uint64_t generation = 1; generation <= 3; ++generation) {
                    segment.record(generation, order);
                }
            },
            Fate::may_be_killed);
        world.run();
        const std::uint64_t intent = segment.intent.load(memory_order_relaxed);
        const std::uint64_t generation = segment.slot.generation();
        const std::uint64_t records = segment.head.load(memory_order_relaxed);
        const std::uint64_t used = segment.used.load(memory_order_relaxed);
        const std::uint64_t live = segment::is_live(generation) ? kBytes : 0;
        if (intent == 0) {
            check(records == generation && used == live, "with no intent, ledger, ring and counters agree");
        } else {
            check(generation == intent || generation == intent - 1, "the intent names the event in doubt");
            check(generation == intent || (records == generation && used == live),
                  "what is not in the ledger is nowhere");
            check(records >= intent - 1, "only the event in doubt is missing in the ring");
            check(records == intent || used == (segment::is_live(intent - 1) ? kBytes : 0),
                  "what is not in the ring is not counted");
        }
        check(world.was_killed(writer) || (intent == 0 && generation == 3), "who lives finishes");
        if (remains != nullptr) {
            remains->intents.insert(intent);
        }
    });
}

Order with(Part first, Part second) {
    Order order = kOrder;
    std::swap(order[static_cast<std::size_t>(first)], order[static_cast<std::size_t>(second)]);
    return order;
}

TEST(EventModel, WhoHasTheRecordFindsTheLedgerAsNew) { EXPECT_PROVEN(follower(kOrder)); }

TEST(EventModel, AKillLeavesOneEventInDoubtAndTheIntentNamesIt) {
    Remains remains;
    EXPECT_PROVEN(killed(kOrder, &remains));
    EXPECT_THAT(remains.intents, testing::ElementsAre(0, 1, 2, 3));
}

TEST(EventModel, ARingBeforeTheLedgerIsCaught) {
    EXPECT_CAUGHT(follower(with(Part::ledger, Part::ring)), "who has the record finds the ledger as new");
    EXPECT_CAUGHT(killed(with(Part::ledger, Part::ring)), "what is not in the ledger is nowhere");
}

TEST(EventModel, CountersBeforeTheRingAreCaught) {
    EXPECT_CAUGHT(killed(with(Part::ring, Part::counters)), "what is not in the ring is not counted");
}

TEST(EventModel, ALedgerBeforeTheIntentIsCaught) {
    EXPECT_CAUGHT(killed(with(Part::intent, Part::ledger)),
                  "with no intent, ledger, ring and counters agree");
}

TEST(EventModel, AnIntentClearedBeforeTheCountersIsCaught) {
    EXPECT_CAUGHT(killed(with(Part::counters, Part::cleared)),
                  "with no intent, ledger, ring and counters agree");
}

}  // namespace
}  // namespace ttmem::model
