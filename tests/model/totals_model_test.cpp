// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "tests/model/atomic.hpp"
#include "tests/model/expect.hpp"
#include "tests/model/explore.hpp"
#include "tests/model/world.hpp"

// When totals are exact: a reader looks at every writer's line, reads the counters or the ledger, and looks
// at the lines again. If no event was in flight at either look and no head has moved, what it read in between
// is what exactly these events have made. This needs care with the order of the looks, which is what this
// test is about:
//
//     event    intent set, ledger, head + 1, counters, intent cleared
//     first    head before intent: whoever has seen a head and then no intent has seen the end of that event
//     second   intent before head: who has seen a part of an event sees its intent or, after it, its head
//
// The steps are written down here once more, as in src/client/recorder.hpp and src/segment/reader.cpp.

namespace ttmem::model {
namespace {

using std::memory_order;
using std::memory_order_acq_rel;
using std::memory_order_acquire;
using std::memory_order_relaxed;
using std::memory_order_release;
using Word = Atomic<std::uint64_t>;

constexpr std::size_t kWriters = 2;

enum class Look : std::uint8_t { intent_then_head, head_then_intent, intent_on_both_sides };

struct Protocol {
    Look first = Look::intent_on_both_sides;
    Look second = Look::intent_on_both_sides;
    memory_order intent_store = memory_order_release;
    memory_order ledger_store = memory_order_release;
    memory_order head_store = memory_order_release;
    memory_order used_add = memory_order_acq_rel;
    memory_order tally_store = memory_order_release;
    memory_order look_load = memory_order_acquire;
    memory_order counter_load = memory_order_acquire;
};

struct Line {
    Word head;
    Word intent;
    Word ledger;  // how many events of this writer are in the ledger
    Word tally;

    explicit Line(std::size_t number) {
        const std::string suffix = std::to_string(number);
        name(head, "head" + suffix);
        name(intent, "intent" + suffix);
        name(ledger, "ledger" + suffix);
        name(tally, "tally" + suffix);
    }

    void record(std::uint64_t event, Word& used, const Protocol& protocol) {
        intent.store(event, protocol.intent_store);
        ledger.store(event, protocol.ledger_store);
        head.store(event, protocol.head_store);
        used.fetch_add(1, protocol.used_add);
        tally.store(event, protocol.tally_store);
        intent.store(0, protocol.intent_store);
    }
};

struct Seen {
    bool idle = true;
    std::uint64_t head = 0;
};

Seen look_at(const Line& line, Look look, memory_order order) {
    Seen seen;
    if (look != Look::head_then_intent) {
        seen.idle = line.intent.load(order) == 0;
    }
    seen.head = line.head.load(order);
    if (look != Look::intent_then_head) {
        seen.idle = line.intent.load(order) == 0 && seen.idle;
    }
    return seen;
}

enum class What : std::uint8_t { counters, ledger };

Result totals(What what, const Protocol& protocol, std::uint64_t events = 2,
              std::set<std::uint64_t>* exact = nullptr) {
    return explore({}, [=](World& world) {
        Line lines[kWriters] = {Line(0), Line(1)};
        Word used;
        name(used, "used");
        for (std::size_t w = 0; w < kWriters; ++w) {
            world.thread("writer " + std::to_string(w), [&, w] {
                // The second writer has one event, which is enough to be in the way.
                for (std::uint64_t event = 1; event <= (w == 0 ? events : 1); ++event) {
                    lines[w].record(event, used, protocol);
                }
            });
        }
        bool quiet = true;
        std::uint64_t sum = 0;
        world.reader("reader", [&] {
            Seen before[kWriters];
            std::uint64_t read[kWriters];
            for (std::size_t w = 0; w < kWriters; ++w) {
                before[w] = look_at(lines[w], protocol.first, protocol.look_load);
                quiet = quiet && before[w].idle;
                sum += before[w].head;
            }
            if (!quiet) {
                return;
            }
            const std::uint64_t all = what == What::counters ? used.load(protocol.counter_load) : sum;
            for (std::size_t w = 0; w < kWriters; ++w) {
                read[w] =
                    (what == What::counters ? lines[w].tally : lines[w].ledger).load(protocol.counter_load);
            }
            for (std::size_t w = 0; w < kWriters; ++w) {
                const Seen after = look_at(lines[w], protocol.second, protocol.look_load);
                quiet = quiet && after.idle && after.head == before[w].head;
            }
            if (quiet) {
                check(all == sum, "the bytes in use are those of the events counted");
                check(read[0] == before[0].head && read[1] == before[1].head,
                      "each writer's share is that of its events");
            }
        });
        world.run();
        if (exact != nullptr && quiet) {
            exact->insert(sum);
        }
    });
}

constexpr const char* kUsed = "the bytes in use are those of the events counted";
constexpr const char* kShare = "each writer's share is that of its events";

TEST(TotalsModel, AreExactWhenQuiet) {
    std::set<std::uint64_t> exact;
    EXPECT_PROVEN(totals(What::counters, {}, 2, &exact));
    EXPECT_THAT(exact, testing::ElementsAre(0, 1, 2, 3));
    EXPECT_PROVEN(totals(What::ledger, {}));
}

TEST(TotalsModel, NeedTheHeadBeforeTheIntentFirst) {
    EXPECT_PROVEN(totals(What::counters, {.first = Look::head_then_intent}));
    EXPECT_PROVEN(totals(What::ledger, {.first = Look::head_then_intent}));
    EXPECT_CAUGHT(totals(What::counters, {.first = Look::intent_then_head}), kShare);
}

TEST(TotalsModel, NeedTheIntentBeforeTheHeadLast) {
    EXPECT_PROVEN(totals(What::counters, {.second = Look::intent_then_head}));
    EXPECT_PROVEN(totals(What::ledger, {.second = Look::intent_then_head}));
    EXPECT_CAUGHT(totals(What::ledger, {.second = Look::head_then_intent}), kShare);
}

TEST(TotalsModel, ARelaxedIntentIsCaught) {
    EXPECT_CAUGHT(totals(What::counters, {.intent_store = memory_order_relaxed}), kShare);
}

TEST(TotalsModel, ARelaxedLedgerIsCaught) {
    EXPECT_CAUGHT(totals(What::ledger, {.ledger_store = memory_order_relaxed}), kShare);
}

TEST(TotalsModel, ARelaxedHeadIsCaught) {
    EXPECT_CAUGHT(totals(What::counters, {.head_store = memory_order_relaxed}), kShare);
}

TEST(TotalsModel, ARelaxedAdditionIsCaught) {
    EXPECT_CAUGHT(totals(What::counters, {.used_add = memory_order_relaxed}), kUsed);
    EXPECT_CAUGHT(totals(What::counters, {.used_add = memory_order_acquire}), kUsed);
}

TEST(TotalsModel, ARelaxedShareIsCaught) {
    EXPECT_CAUGHT(totals(What::counters, {.tally_store = memory_order_relaxed}), kShare);
}

TEST(TotalsModel, ARelaxedLookIsCaught) {
    EXPECT_CAUGHT(totals(What::counters, {.look_load = memory_order_relaxed}), kShare);
}

TEST(TotalsModel, ARelaxedReadOfTheCountersIsCaught) {
    EXPECT_CAUGHT(totals(What::counters, {.counter_load = memory_order_relaxed}), kUsed);
}

// Every addition carries on what the earlier ones released, so to release is enough.
TEST(TotalsModel, AnAdditionNeedsNoAcquire) {
    EXPECT_PROVEN(totals(What::counters, {.used_add = memory_order_release}));
}

}  // namespace
}  // namespace ttmem::model
