// SPDX-License-Identifier: Apache-2.0
#include "segment/ring.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "tests/model/atomic.hpp"
#include "tests/model/expect.hpp"
#include "tests/model/explore.hpp"
#include "tests/model/world.hpp"

// The ring protocol in every execution: a record that a reader keeps is whole and is the requested one, and kept plus
// lost records are all that were written. Then the same with one weakened step, which must be detected.

namespace ttmem::model {
namespace {

using segment::BasicRecord;
using segment::kRecordWords;
using segment::RingOrders;
using segment::RingPosition;
using std::memory_order_acquire;
using std::memory_order_relaxed;
using std::memory_order_release;
using Word = Atomic<std::uint64_t>;

// ---- weakened variants ------------------------------------------------------------------------------------

struct RelaxedRecordStore : RingOrders {
    static constexpr auto record_store = memory_order_relaxed;
};
struct RelaxedHeadStore : RingOrders {
    static constexpr auto head_store = memory_order_relaxed;
};
struct RelaxedHeadLoad : RingOrders {
    static constexpr auto head_load = memory_order_relaxed;
};
struct RelaxedRecordLoad : RingOrders {
    static constexpr auto record_load = memory_order_relaxed;
};
struct RelaxedRecheck : RingOrders {
    static constexpr auto recheck_load = memory_order_relaxed;
};
struct BoundOffByOne : RingOrders {
    static constexpr std::uint64_t overwritten_at = 1;
};

// ---- the programs -----------------------------------------------------------------------------------------

template <std::uint64_t kCapacity>
struct Ring {
    BasicRecord<Word> records[kCapacity];
    Word head;

    Ring() {
        name(head, "head");
        for (std::size_t r = 0; r < kCapacity; ++r) {
            for (std::size_t w = 0; w < kRecordWords; ++w) {
                name(records[r].word[w], "record" + std::to_string(r) + "." + std::to_string(w));
            }
        }
    }
};

constexpr std::uint64_t record_word(std::uint64_t index, std::size_t word) { return 10 * (index + 1) + word; }

struct ProtocolWriter {
    template <class Orders, std::uint64_t kCapacity>
    static void append(Ring<kCapacity>& ring, const std::uint64_t (&record)[kRecordWords]) {
        segment::append_record<Orders>(ring.records, kCapacity, ring.head, record);
    }
};

struct HeadFirstWriter {
    template <class Orders, std::uint64_t kCapacity>
    static void append(Ring<kCapacity>& ring, const std::uint64_t (&record)[kRecordWords]) {
        const std::uint64_t index = ring.head.load(memory_order_relaxed);
        ring.head.store(index + 1, memory_order_release);
        for (std::size_t i = 0; i < kRecordWords; ++i) {
            ring.records[index % kCapacity].word[i].store(record[i], memory_order_release);
        }
    }
};

template <class Orders, class Writer, std::uint64_t kCapacity>
void append(Ring<kCapacity>& ring, std::uint64_t index) {
    std::uint64_t record[kRecordWords];
    for (std::size_t i = 0; i < kRecordWords; ++i) {
        record[i] = record_word(index, i);
    }
    Writer::template append<Orders>(ring, record);
}

void check_record(const std::uint64_t (&record)[kRecordWords], std::uint64_t index) {
    for (std::size_t i = 0; i < kRecordWords; ++i) {
        check(record[i] == record_word(index, i), "a kept record is the one that was asked for");
    }
}

struct ProtocolReader {
    template <class Orders, std::uint64_t kCapacity>
    static void follow(const Ring<kCapacity>& ring, RingPosition& position) {
        segment::follow_ring<Orders>(
            ring.records, kCapacity, ring.head, position,
            [&](const std::uint64_t(&record)[kRecordWords]) { check_record(record, position.next); });
    }
};

// Skips records that are certainly overwritten, as the protocol does, but rechecks the head with another bound.
template <std::uint64_t kSlack>
struct LaxReader {
    template <class Orders, std::uint64_t kCapacity>
    static void follow(const Ring<kCapacity>& ring, RingPosition& position) {
        const std::uint64_t end = ring.head.load(memory_order_acquire);
        for (; position.next != end; ++position.next) {
            std::uint64_t record[kRecordWords];
            for (std::size_t i = 0; i < kRecordWords; ++i) {
                record[i] = ring.records[position.next % kCapacity].word[i].load(memory_order_acquire);
            }
            const bool was_there = end - position.next < kCapacity;
            if (was_there && ring.head.load(memory_order_acquire) - position.next < kCapacity + kSlack) {
                check_record(record, position.next);
                ++position.kept;
            } else {
                ++position.lost;
            }
        }
    }
};

struct Run {
    std::uint64_t written = 4;
    int follows = 2;  // rounds of the reader, before a last round when all writers have ended
    Fate fate = Fate::lives;
    std::set<std::uint64_t>* lost = nullptr;  // numbers of lost records over all executions
};

template <class Orders, std::uint64_t kCapacity = 2, class Writer = ProtocolWriter,
          class Reader = ProtocolReader>
Result one_writer(const Run& run = {}) {
    return explore({}, [=](World& world) {
        Ring<kCapacity> ring;
        world.thread(
            "writer",
            [&] {
                for (std::uint64_t index = 0; index < run.written; ++index) {
                    append<Orders, Writer>(ring, index);
                }
            },
            run.fate);
        RingPosition position;
        world.reader("reader", [&] {
            for (int round = 0; round < run.follows; ++round) {
                Reader::template follow<Orders>(ring, position);
                check(position.kept + position.lost == position.next,
                      "kept and lost are all that was passed");
            }
        });
        world.run();
        Reader::template follow<Orders>(ring, position);
        const std::uint64_t head = ring.head.load(memory_order_relaxed);
        check(position.kept + position.lost == head, "kept and lost are all that was written");
        check(head == run.written || run.fate == Fate::may_be_killed, "all was written");
        if (run.lost != nullptr) {
            run.lost->insert(position.lost);
        }
    });
}

// A thread ends and returns its line, and the next thread continues at the same head. The word `free line` stands for
// the lock.
template <class Orders>
Result line_handed_on(std::memory_order give, std::memory_order take) {
    return explore({}, [=](World& world) {
        Ring<2> ring;
        Word free_line;
        name(free_line, "free line");
        bool taken = false;
        world.thread("first", [&] {
            append<Orders, ProtocolWriter>(ring, 0);
            append<Orders, ProtocolWriter>(ring, 1);
            free_line.store(1, give);
        });
        world.thread("second", [&] {
            if (free_line.load(take) == 1) {
                taken = true;
                append<Orders, ProtocolWriter>(ring, 2);
                append<Orders, ProtocolWriter>(ring, 3);
            }
        });
        RingPosition position;
        world.reader("reader", [&] { ProtocolReader::follow<Orders>(ring, position); });
        world.run();
        ProtocolReader::follow<Orders>(ring, position);
        check(position.kept + position.lost == (taken ? 4U : 2U), "kept and lost are all that was written");
    });
}

// ---- the proofs -------------------------------------------------------------------------------------------

constexpr const char* kTorn = "a kept record is the one that was asked for";

TEST(RingModel, AKeptRecordIsWholeAndTheRestIsCounted) {
    std::set<std::uint64_t> lost;
    EXPECT_PROVEN(one_writer<RingOrders>({.follows = 3, .lost = &lost}));
    // A ring of two keeps at least one record in the last round. So of four records, between one and four are kept.
    EXPECT_THAT(lost, testing::ElementsAre(0, 1, 2, 3));
}

TEST(RingModel, AKeptRecordIsWholeInARingOfFour) {
    std::set<std::uint64_t> lost;
    EXPECT_PROVEN((one_writer<RingOrders, 4>({.written = 6, .lost = &lost})));
    EXPECT_THAT(lost, testing::ElementsAre(0, 1, 2, 3));
}

TEST(RingModel, AKilledWriterLeavesNoBadRecord) {
    EXPECT_PROVEN(one_writer<RingOrders>({.written = 3, .fate = Fate::may_be_killed}));
}

TEST(RingModel, ALineGoesFromThreadToThread) {
    EXPECT_PROVEN(line_handed_on<RingOrders>(memory_order_release, memory_order_acquire));
}

// The loads of the record have acquire order and precede the last load of the head, which therefore needs no order.
TEST(RingModel, TheRecheckNeedsNoOrder) {
    EXPECT_PROVEN(one_writer<RelaxedRecheck>());
    EXPECT_PROVEN(line_handed_on<RelaxedRecheck>(memory_order_release, memory_order_acquire));
}

TEST(RingModel, ARelaxedRecordStoreIsCaught) { EXPECT_CAUGHT(one_writer<RelaxedRecordStore>(), kTorn); }

TEST(RingModel, ARelaxedHeadStoreIsCaught) { EXPECT_CAUGHT(one_writer<RelaxedHeadStore>(), kTorn); }

TEST(RingModel, ARelaxedHeadLoadIsCaught) { EXPECT_CAUGHT(one_writer<RelaxedHeadLoad>(), kTorn); }

TEST(RingModel, ARelaxedRecordLoadIsCaught) { EXPECT_CAUGHT(one_writer<RelaxedRecordLoad>(), kTorn); }

TEST(RingModel, ABoundThatIsOffByOneIsCaught) {
    EXPECT_CAUGHT(one_writer<BoundOffByOne>(), kTorn);
    EXPECT_CAUGHT((one_writer<BoundOffByOne, 4>({.written = 5, .follows = 1})), kTorn);
}

TEST(RingModel, ASecondLookWithABoundThatIsOffByOneIsCaught) {
    EXPECT_PROVEN((one_writer<RingOrders, 2, ProtocolWriter, LaxReader<0>>()));
    EXPECT_CAUGHT((one_writer<RingOrders, 2, ProtocolWriter, LaxReader<1>>()), kTorn);
}

TEST(RingModel, AHeadThatIsNotRecheckedIsCaught) {
    EXPECT_CAUGHT((one_writer<RingOrders, 2, ProtocolWriter, LaxReader<1000>>()), kTorn);
}

TEST(RingModel, AHeadThatRisesBeforeTheRecordIsCaught) {
    EXPECT_CAUGHT((one_writer<RingOrders, 2, HeadFirstWriter>()), kTorn);
}

TEST(RingModel, ALineHandedOnWithoutOrderIsCaught) {
    EXPECT_CAUGHT(line_handed_on<RingOrders>(memory_order_relaxed, memory_order_acquire), kTorn);
    EXPECT_CAUGHT(line_handed_on<RingOrders>(memory_order_release, memory_order_relaxed), kTorn);
}

}  // namespace
}  // namespace ttmem::model
