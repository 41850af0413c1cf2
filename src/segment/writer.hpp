// SPDX-License-Identifier: Apache-2.0
#pragma once

// The writer of events: the one place that holds the order of an event's stores and the rules of counting.
//
//     writer line     intent = slot and generation          a reader that sees any later part sees this, or the end
//     ledger slot     published, or retired
//     ring            one record, then the head
//     counters        pool and tally
//     writer line     intent = 0
//
// src/client writes with it from many threads, SegmentWriter (segment_writer.hpp) from one. tests/model runs it on
// atomics of a memory model, in all executions that the language allows, and checks that each ordering and each step is
// needed: types, orders and the sequence of steps are template parameters for that.
//
// A tag is the other store into a live slot, and read_line() is the reader's side of the intent.

#include <atomic>
#include <cstdint>
#include <type_traits>

#include "segment/layout.hpp"

namespace ttmem::segment {

enum class Step : uint8_t { intent, ledger, ring, counters, clear };

template <Step... kSteps>
struct StepOrder {};

// What the client uses. A writer that is the only one of its segment sets kSharesPools to false.
struct EventTraits {
    using Line = WriterLine;
    using Record = RingRecord;
    using Slot = LedgerSlot;
    using PoolType = Pool;
    using TallyType = Tally;

    using Order = StepOrder<Step::intent, Step::ledger, Step::ring, Step::counters, Step::clear>;
    using RingOrders = segment::RingOrders;

    static constexpr bool kSharesPools = true;
    static constexpr auto intent_store = std::memory_order_release;
    static constexpr auto used_add = std::memory_order_acq_rel;
    static constexpr auto since_raise = std::memory_order_acq_rel;
    static constexpr auto tally_store = std::memory_order_release;

    // Called after each step but the last; the crash tests stop here.
    static void passed(EventType, Step) {}

    // Called after an event has changed a paused pool, with what it then used. A writer that pauses no pool has none.
    static void resume(uint32_t /*pool*/, uint64_t /*level*/) {}
};

// Only one thread stores to `word` (or it holds a lock). SYNC POINT: with Reader::totals().
template <std::memory_order kOrder = std::memory_order_release, class Word>
void add_alone(Word& word, uint64_t amount) {
    word.store(word.load(std::memory_order_relaxed) + amount, kOrder);
}

// Raises a word to a level, if it is below. `used` is one word that all threads add to, so each addition gives an exact level.
template <std::memory_order kOrder = std::memory_order_relaxed, class Word>
bool raise_to(Word& word, uint64_t level) {
    uint64_t known = word.load(std::memory_order_relaxed);
    while (__builtin_expect(level > known, 0)) {
        if (word.compare_exchange_weak(known, level, kOrder, std::memory_order_relaxed)) {
            return true;
        }
    }
    return false;
}

enum class Recorded : uint8_t {
    yes,
    not_live,  // a free of something that is not live: nothing has changed
    paused,    // the counters are those after the event, and its pool is to be resumed (chip_peaks.hpp)
};

struct PausedPool {
    uint32_t pool = 0;
    uint64_t level = 0;  // what it uses after the event
};

// Writes the events of one writer line. All zero is a valid writer of nothing, so that it may live in mapped memory.
template <class Traits>
struct BasicEventWriter {
    using Payload = uint64_t[kLedgerPayloadWords];

    typename Traits::Line* line;
    typename Traits::Record* ring;
    uint64_t ring_mask;  // capacity of the ring - 1
    typename Traits::Slot* ledger;
    typename Traits::PoolType* pools;
    typename Traits::TallyType* tallies;  // of this line

    // Makes a free slot live.
    [[gnu::always_inline]] SlotRef allocate(uint32_t slot, const Allocation& a) {
        SlotRef ref;
        PausedPool paused;
        if (__builtin_expect(begin_allocate(slot, a, ref, paused) == Recorded::paused, 0)) {
            end(paused);
        }
        return ref;
    }

    // Frees a live slot; false if it is not live at that generation, and then nothing has changed. `what` is the what
    // word that the slot had; the slot keeps its payload until it is used again.
    [[gnu::always_inline]] bool free(SlotRef live, uint64_t ticks, uint64_t& what) {
        PausedPool paused;
        const Recorded recorded = begin_free(live, ticks, what, paused);
        if (__builtin_expect(recorded == Recorded::paused, 0)) {
            end(paused);
        }
        return recorded != Recorded::not_live;
    }

    // The same without a call, for the hot path of the client: if the pool is paused, the caller ends the event with end().
    [[gnu::always_inline]] Recorded begin_allocate(uint32_t slot, const Allocation& a, SlotRef& ref,
                                                   PausedPool& paused) {
        auto& target = ledger[slot];
        ref = SlotRef{slot, live_generation_after(target.generation())};
        Payload payload;
        encode(a, ref.generation, payload);
        Recorded recorded = Recorded::yes;
        run<EventType::allocate>(typename Traits::Order{}, ref, a.ticks, payload, recorded, paused);
        return recorded;
    }

    [[gnu::always_inline]] Recorded begin_free(SlotRef live, uint64_t ticks, uint64_t& what,
                                               PausedPool& paused) {
        Payload payload;
        if constexpr (!std::is_same_v<typename Traits::Order, EventTraits::Order>) {
            __builtin_memset(payload, 0,
                             sizeof payload);  // the order of a test may use it before it is loaded
        }
        const SlotRef ended{live.slot, next_generation(live.generation)};
        Recorded recorded = Recorded::yes;
        run<EventType::free>(typename Traits::Order{}, ended, ticks, payload, recorded, paused);
        if (__builtin_expect(recorded == Recorded::not_live, 0)) {
            line->intent.store(0, Traits::intent_store);
            return recorded;
        }
        what = payload[kWhatWord - 1];
        return recorded;
    }

    [[gnu::noinline, gnu::cold]] void end(PausedPool paused) {
        Traits::resume(paused.pool, paused.level);
        line->intent.store(0, Traits::intent_store);
    }

    // Appends an event that is about no slot.
    void append(const Event& event) {
        uint64_t record[kRecordWords];
        encode(event, record);
        append_record<typename Traits::RingOrders>(ring, ring_mask + 1, line->head, record);
    }

private:
    template <EventType kType, Step... kSteps>
    void run(StepOrder<kSteps...>, SlotRef ref, uint64_t ticks, Payload& payload, Recorded& recorded,
             PausedPool& paused) {
        (step<kType, kSteps>(ref, ticks, payload, recorded, paused) && ...);
    }

    template <EventType kType, Step kStep>
    bool step(SlotRef ref, uint64_t ticks, Payload& payload, Recorded& recorded, PausedPool& paused) {
        if constexpr (kStep == Step::intent) {
            line->intent.store(ref.pack(), Traits::intent_store);
        } else if constexpr (kStep == Step::ledger && kType == EventType::allocate) {
            ledger[ref.slot].publish(payload, ref.generation);
        } else if constexpr (kStep == Step::ledger) {
            if (__builtin_expect(!retire(ref, payload), 0)) {
                recorded = Recorded::not_live;
                return false;
            }
        } else if constexpr (kStep == Step::ring) {
            uint64_t record[kRecordWords];
            encode(kType, ticks, ref, payload, record);
            append_record<typename Traits::RingOrders>(ring, ring_mask + 1, line->head, record);
        } else if constexpr (kStep == Step::counters) {
            if (__builtin_expect(!count<kType>(payload, paused), 0)) {
                recorded = Recorded::paused;
                Traits::passed(kType, kStep);
                return false;
            }
        } else {
            line->intent.store(0, Traits::intent_store);
            return true;
        }
        Traits::passed(kType, kStep);
        return true;
    }

    // Copies the words that a free needs. The winner of retire() alone reads them, before anyone uses the slot again.
    bool retire(SlotRef ended, Payload& payload) {
        auto& target = ledger[ended.slot];
        if (__builtin_expect(!target.retire(previous_generation(ended.generation)), 0)) {
            return false;
        }
        for (const size_t word : {kAddressWord, kRequestedWord, kReservedWord, kNamingWord, kWhatWord}) {
            payload[word - 1] = target.word[word].load(std::memory_order_relaxed);
        }
        return true;
    }

    // Adds what an allocation counts for, or subtracts it, modulo 2^64. False if the pool is paused.
    // SYNC POINT: with Reader::totals(): a reader that sees a counter of this event sees its intent, or its end.
    template <EventType kType>
    bool count(const Payload& payload, PausedPool& paused) {
        constexpr uint64_t kOne = kType == EventType::allocate ? 1 : UINT64_MAX;
        const uint64_t what = payload[kWhatWord - 1];
        const AllocationFlags flags = flags_in(what);
        auto& tally = tallies[pool_in(what)];
        if (__builtin_expect(flags.bits != 0, 0)) {
            if (!adds_bytes(flags)) {
                add(tally.planned_and_views, flags.has(AllocationFlag::planned) ? kOne : kOne << 32);
                return true;
            }
            if (flags.has(AllocationFlag::reserved_unknown)) {
                add(tally.reserved_unknown, kOne);
            }
        }
        auto& pool = pools[pool_in(what)];
        const uint64_t level = add_used(pool, payload[kReservedWord - 1] * kOne);
        add(tally.requested, payload[kRequestedWord - 1] * kOne);
        add(tally.count, kOne);
        // SYNC POINT: with BasicChipPeaks, which pauses a pool, and then takes `since` and `used` by exchanging them. What it
        // does not see of this event comes after that, and so sees the pause.
        if (__builtin_expect(is_paused(pool), 0)) {
            paused = {pool_in(what), level};
            return false;
        }
        if constexpr (kType == EventType::allocate) {
            // No peak is below `since`, so an event that does not raise it raises none.
            if (__builtin_expect(raise_to<Traits::since_raise>(pool.since, level), 0)) {
                raise_to(pool.peak, level);
                if (__builtin_expect(is_paused(pool), 0)) {
                    paused = {pool_in(what), 0};  // the level belongs to the time before
                    return false;
                }
            }
        }
        return true;
    }

    template <class PoolType>
    static uint64_t add_used(PoolType& pool, uint64_t amount) {
        if constexpr (Traits::kSharesPools) {
            return pool.used.fetch_add(amount, Traits::used_add) + amount;
        } else {
            add_alone<Traits::tally_store>(pool.used, amount);
            return pool.used.load(std::memory_order_relaxed);
        }
    }

    template <class PoolType>
    static bool is_paused(const PoolType& pool) {
        return pool.is_paused.load(std::memory_order_relaxed) != 0;
    }

    template <class Word>
    static void add(Word& word, uint64_t amount) {
        add_alone<Traits::tally_store>(word, amount);
    }
};

// ---- tables --------------------------------------------------------------------------------------------------------

// Publishes an object as the payload of a slot, after retiring what the slot held. The caller alone writes this slot.
template <class Slot, class Object>
void publish_object(Slot& slot, const Object& object) {
    static_assert(sizeof(Object) <= Slot::kPayloadWords * sizeof(uint64_t));
    uint64_t payload[Slot::kPayloadWords] = {};
    __builtin_memcpy(payload, &object, sizeof object);
    if (is_live(slot.generation())) {
        slot.retire(slot.generation());
    }
    slot.publish(payload, live_generation_after(slot.generation()));
}

// Writes a failure in its place among those of its type, and returns the entry. The caller alone writes failures.
inline uint32_t write_failure(Header& header, FailureSlot* failures, const Failure& failure) {
    Word& total = header.failures[failure.type];
    const uint32_t entry =
        failure_index(static_cast<FailureType>(failure.type), total.load(std::memory_order_relaxed));
    publish_object(failures[entry], failure);
    add_alone(total, 1);
    return entry;
}

// ---- the reader's side of an intent --------------------------------------------------------------------------------

struct LineOrders {
    static constexpr auto load = std::memory_order_acquire;
    // The intent is read on both sides of the head. Before the counters are read, "head, then no intent" says that the
    // last event seen has ended; after them, "no intent, then head" says that nothing seen was half an event.
    static constexpr bool kIntentBeforeHead = true;
    static constexpr bool kIntentAfterHead = true;
};

struct LineView {
    uint64_t head = 0;
    uint64_t intent = 0;  // 0: no event in flight
};

// SYNC POINT: with BasicEventWriter, which sets the intent first and clears it last.
template <class Orders = LineOrders, class Line>
LineView read_line(const Line& line) {
    LineView view;
    if constexpr (Orders::kIntentBeforeHead) {
        view.intent = line.intent.load(Orders::load);
    }
    view.head = line.head.load(Orders::load);
    if constexpr (Orders::kIntentAfterHead) {
        view.intent = view.intent != 0 ? view.intent : line.intent.load(Orders::load);
    }
    return view;
}

// Whether what was read between the two views of a line is that of one moment.
constexpr bool is_quiet(const LineView& before, const LineView& after) {
    return before.intent == 0 && after.intent == 0 && before.head == after.head;
}

// ---- tags ----------------------------------------------------------------------------------------------------------

struct TagOrders {
    static constexpr auto swap = std::memory_order_acq_rel;
    static constexpr bool kChecksGeneration = true;
    static constexpr bool kSwaps = true;
};

// Gives a live allocation another name: name_inside(name) returns the new one, or 0 to keep the old. Another thread may
// free the allocation and use the slot again meanwhile; the naming word then has other bits of the generation, and
// nothing changes. SYNC POINT: with BasicSlot::publish() and retire().
template <class Orders = TagOrders, class Word, class NameInside>
void tag_slot(const Word& generation_word, Word& naming, uint64_t generation, NameInside&& name_inside) {
    if (generation_word.load(std::memory_order_acquire) != generation) {
        return;
    }
    uint64_t known = naming.load(std::memory_order_acquire);
    const uint32_t name = name_inside(name_in(known));
    if (name == 0 || (Orders::kChecksGeneration && !names_generation(known, generation))) {
        return;
    }
    const uint64_t tagged = uint64_t{name} << 32 | (known & 0xffff'ffff);
    if constexpr (Orders::kSwaps) {
        naming.compare_exchange_strong(known, tagged, Orders::swap, std::memory_order_relaxed);
    } else {
        naming.store(tagged, std::memory_order_release);
    }
}

}  // namespace ttmem::segment
