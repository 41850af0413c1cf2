// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "segment/writer.hpp"
#include "tests/model/atomic.hpp"
#include "tests/model/expect.hpp"
#include "tests/model/explore.hpp"
#include "tests/model/model_segment.hpp"
#include "tests/model/world.hpp"

// When totals are exact. A reader reads the line of every writer, then the counters or the ledger, and then the lines
// again (Reader::totals() uses the same read_line() and is_quiet()). If no event was in flight at either time and no
// head has moved, the values read in between are the result of exactly these events. The order of the loads matters:
//
//     event          intent set, ledger, head + 1, counters, intent cleared
//     lines before   head before intent: no intent after a head means that the event of that head has ended
//     lines after    intent before head: a reader that saw a part of an event sees its intent or, after it, its head
//
// The writer is the one of src/segment/writer.hpp. Each writer has its own slots and only allocates.

namespace ttmem::model {
namespace {

using segment::LineOrders;
using segment::LineView;
using std::memory_order;
using std::memory_order_acq_rel;
using std::memory_order_acquire;
using std::memory_order_relaxed;
using std::memory_order_release;

constexpr std::size_t kWriters = 2;
constexpr std::size_t kSlots = 3;  // two of the first writer, one of the second

template <class Traits>
struct Lines {
    typename Traits::Slot ledger[kSlots];
    ModelPool pool{UINT64_MAX};  // never raised: the reader of totals does not depend on the peak
    ModelWriterLine<Traits> writer[kWriters] = {ModelWriterLine<Traits>("0"), ModelWriterLine<Traits>("1")};

    Lines() {
        name(pool.used, "used");
        name(pool.peak, "peak");
        for (std::size_t i = 0; i < kSlots; ++i) {
            name(ledger[i].word[0], "generation" + std::to_string(i));
        }
    }

    std::uint64_t live_of(std::size_t w, memory_order order) const {
        const std::size_t first = w == 0 ? 0 : 2;
        const std::size_t end = w == 0 ? 2 : kSlots;
        std::uint64_t live = 0;
        for (std::size_t slot = first; slot < end; ++slot) {
            live += ledger[slot].word[0].load(order);
        }
        return live;
    }
};

enum class What : std::uint8_t { counters, ledger };

struct HeadThenIntent : LineOrders {
    static constexpr bool kIntentBeforeHead = false;
};
struct IntentThenHead : LineOrders {
    static constexpr bool kIntentAfterHead = false;
};
struct RelaxedLine : LineOrders {
    static constexpr auto load = memory_order_relaxed;
};

template <class Traits = ModelTraits, class Before = LineOrders, class After = LineOrders>
Result totals(What what, std::set<std::uint64_t>* exact = nullptr,
              memory_order counter_load = memory_order_acquire) {
    return explore({}, [=](World& world) {
        Lines<Traits> lines;
        for (std::size_t w = 0; w < kWriters; ++w) {
            world.thread("writer " + std::to_string(w), [&, w] {
                // The second writer has one event, which is enough to interfere.
                const std::uint32_t first = w == 0 ? 0 : 2;
                const std::uint32_t end = w == 0 ? 2 : kSlots;
                for (std::uint32_t slot = first; slot < end; ++slot) {
                    lines.writer[w].allocate(lines.ledger, lines.pool, slot);
                }
            });
        }
        bool quiet = true;
        std::uint64_t sum = 0;
        world.reader("reader", [&] {
            LineView before[kWriters];
            std::uint64_t read[kWriters];
            for (std::size_t w = 0; w < kWriters; ++w) {
                before[w] = segment::read_line<Before>(lines.writer[w].line);
                quiet = quiet && before[w].intent == 0;
                sum += before[w].head;
            }
            if (!quiet) {
                return;
            }
            const std::uint64_t used =
                what == What::counters ? lines.pool.used.load(counter_load) : sum * kModelBytes;
            for (std::size_t w = 0; w < kWriters; ++w) {
                read[w] = what == What::counters ? lines.writer[w].tally.count.load(counter_load)
                                                 : lines.live_of(w, counter_load);
            }
            for (std::size_t w = 0; w < kWriters; ++w) {
                const LineView after = segment::read_line<After>(lines.writer[w].line);
                quiet = quiet && segment::is_quiet(before[w], after);
            }
            if (quiet) {
                check(used == sum * kModelBytes, "the bytes in use are those of the events counted");
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

struct RelaxedIntent : ModelTraits {
    static constexpr auto intent_store = memory_order_relaxed;
};
struct RelaxedSlotOrders : segment::SlotOrders {
    static constexpr auto payload_store = memory_order_relaxed;
    static constexpr auto publish = memory_order_relaxed;
};
struct RelaxedLedger : ModelTraits {
    using Slot = segment::BasicSlot<ModelWord, segment::LedgerSlot::kPayloadWords + 1, RelaxedSlotOrders>;
};
struct RelaxedHead : ModelTraits {
    struct RingOrders : segment::RingOrders {
        static constexpr auto head_store = memory_order_relaxed;
    };
};
template <memory_order kOrder>
struct UsedAdd : ModelTraits {
    static constexpr auto used_add = kOrder;
};
struct RelaxedTally : ModelTraits {
    static constexpr auto tally_store = memory_order_relaxed;
};

TEST(TotalsModel, AreExactWhenQuiet) {
    std::set<std::uint64_t> exact;
    EXPECT_PROVEN(totals<>(What::counters, &exact));
    EXPECT_THAT(exact, testing::ElementsAre(0, 1, 2, 3));
    EXPECT_PROVEN(totals<>(What::ledger));
}

TEST(TotalsModel, NeedTheHeadBeforeTheIntentFirst) {
    EXPECT_PROVEN((totals<ModelTraits, HeadThenIntent>(What::counters)));
    EXPECT_PROVEN((totals<ModelTraits, HeadThenIntent>(What::ledger)));
    EXPECT_CAUGHT((totals<ModelTraits, IntentThenHead>(What::counters)), kShare);
}

TEST(TotalsModel, NeedTheIntentBeforeTheHeadLast) {
    EXPECT_PROVEN((totals<ModelTraits, LineOrders, IntentThenHead>(What::counters)));
    EXPECT_PROVEN((totals<ModelTraits, LineOrders, IntentThenHead>(What::ledger)));
    EXPECT_CAUGHT((totals<ModelTraits, LineOrders, HeadThenIntent>(What::ledger)), kShare);
}

TEST(TotalsModel, ARelaxedIntentIsCaught) { EXPECT_CAUGHT(totals<RelaxedIntent>(What::counters), kShare); }

TEST(TotalsModel, ARelaxedLedgerIsCaught) { EXPECT_CAUGHT(totals<RelaxedLedger>(What::ledger), kShare); }

TEST(TotalsModel, ARelaxedHeadIsCaught) { EXPECT_CAUGHT(totals<RelaxedHead>(What::counters), kShare); }

TEST(TotalsModel, ARelaxedAdditionIsCaught) {
    EXPECT_CAUGHT(totals<UsedAdd<memory_order_relaxed>>(What::counters), kUsed);
    EXPECT_CAUGHT(totals<UsedAdd<memory_order_acquire>>(What::counters), kUsed);
}

TEST(TotalsModel, ARelaxedShareIsCaught) { EXPECT_CAUGHT(totals<RelaxedTally>(What::counters), kShare); }

TEST(TotalsModel, ARelaxedReadOfALineIsCaught) {
    EXPECT_CAUGHT((totals<ModelTraits, RelaxedLine, RelaxedLine>(What::counters)), kShare);
}

TEST(TotalsModel, ARelaxedReadOfTheCountersIsCaught) {
    EXPECT_CAUGHT(totals<>(What::counters, nullptr, memory_order_relaxed), kUsed);
}

// Every addition carries on the releases of earlier ones, so release order is enough.
TEST(TotalsModel, AnAdditionNeedsNoAcquire) {
    EXPECT_PROVEN(totals<UsedAdd<memory_order_release>>(What::counters));
}

}  // namespace
}  // namespace ttmem::model
