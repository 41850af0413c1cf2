// SPDX-License-Identifier: Apache-2.0
#pragma once

// The hot path: recording one event. The order is the promise (segment/layout.hpp): intent, ledger, ring, counters,
// intent cleared. No lock, no system call, no heap; a magazine that is empty or full is the cold exception.

#include <time.h>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "client/index.hpp"
#include "client/state.hpp"
#include "client/test_points.hpp"

namespace ttmem::client {

// Cold: fetches or returns half a magazine of slots.
bool refill_magazine(State& state, Thread& thread);
void spill_magazine(State& state, Thread& thread);

inline uint64_t now_ticks(const State& state) {
#if defined(__x86_64__)
    if (__builtin_expect(state.clock_is_tsc, 1)) {
        return __rdtsc();
    }
#endif
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

inline void write_event(State& state, Thread& thread, const segment::Event& event) {
    uint64_t record[segment::kRecordWords];
    segment::encode(event, record);
    segment::append_record(thread.ring, state.ring_records, thread.writer->head, record);
}

// Only this thread stores here (or holds the lock of the shared line). SYNC POINT: with Reader::totals().
inline void add(segment::Word& word, uint64_t amount) {
    word.store(word.load(std::memory_order_relaxed) + amount, std::memory_order_release);
}

// The highest value a pool has had: `used` is one word that all threads add to, so what each addition gave is exact.
inline void raise_peak(segment::Pool& pool, uint64_t level) {
    uint64_t peak = pool.peak.load(std::memory_order_relaxed);
    while (__builtin_expect(level > peak, 0) &&
           !pool.peak.compare_exchange_weak(peak, level, std::memory_order_relaxed)) {
    }
}

// Adds (direction 1) or takes (direction -1, modulo 2^64) what an allocation counts for.
// SYNC POINT: with Reader::totals(): who sees a counter of this event sees its intent, or its end.
inline void count_in_pool(State& state, Thread& thread, const segment::Allocation& a, uint64_t direction) {
    const uint32_t index = segment::pool_index(a.set, a.kind);
    segment::Tally& tally = thread.tallies[index];
    if (__builtin_expect(!segment::adds_bytes(a.flags), 0)) {
        add(tally.planned_and_views, (a.flags & segment::kPlanned) != 0 ? direction : direction << 32);
        return;
    }
    segment::Pool& pool = state.pools[index];
    const uint64_t change = a.reserved * direction;
    const uint64_t level = pool.used.fetch_add(change, std::memory_order_acq_rel) + change;
    if (direction == 1) {
        raise_peak(pool, level);
    }
    add(tally.requested, a.requested * direction);
    add(tally.count, direction);
    if (__builtin_expect((a.flags & segment::kReservedUnknown) != 0, 0)) {
        add(tally.reserved_unknown, direction);
    }
}

inline segment::Event event_of(segment::EventType type, const segment::Allocation& a, segment::SlotRef slot,
                               uint64_t ticks) {
    return {type,
            a.kind,
            ticks,
            slot,
            a.address,
            a.requested,
            static_cast<uint16_t>(a.name),
            a.set,
            segment::adds_bytes(a.flags)};
}

// Makes `a` live. Sets its time and thread. A generation of 0 in the result: it could not be recorded, and was counted.
inline segment::SlotRef record_allocation(State& state, Thread& thread, segment::Allocation& a) {
    if (__builtin_expect(thread.magazine_count == 0, 0) && !refill_magazine(state, thread)) {
        return {};
    }
    const uint32_t slot = thread.magazine[--thread.magazine_count];
    segment::LedgerSlot& target = state.ledger[slot];
    const segment::SlotRef ref{slot, segment::next_generation(target.generation())};
    a.ticks = now_ticks(state);
    a.thread = tls.id;
    uint64_t payload[segment::LedgerSlot::kPayloadWords];
    segment::encode(a, ref.generation, payload);

    thread.writer->intent.store(ref.pack(), std::memory_order_release);
    TTMEM_TEST_POINT("allocate: intent set");
    target.publish(payload, ref.generation);
    TTMEM_TEST_POINT("allocate: slot published");
    write_event(state, thread, event_of(segment::EventType::allocate, a, ref, a.ticks));
    TTMEM_TEST_POINT("allocate: event written");
    count_in_pool(state, thread, a, 1);
    TTMEM_TEST_POINT("allocate: counted");
    thread.writer->intent.store(0, std::memory_order_release);
    return ref;
}

inline segment::Allocation load_allocation(const segment::LedgerSlot& slot) {
    uint64_t payload[segment::LedgerSlot::kPayloadWords];
#pragma GCC unroll 8
    for (size_t i = 0; i < segment::LedgerSlot::kPayloadWords; ++i) {
        payload[i] = slot.word[1 + i].load(std::memory_order_relaxed);
    }
    return segment::decode_allocation(payload);
}

enum class Freed { no, yes, yes_and_indexed };

// Ends a live allocation; `no` if it is not live at that generation, and nothing has changed. The slot keeps what it
// held until reuse_slot() gives it back, after the caller has taken it out of the index where it is in one.
inline Freed record_free(State& state, Thread& thread, segment::SlotRef ref) {
    segment::LedgerSlot& target = state.ledger[ref.slot];
    const segment::SlotRef ended{ref.slot, segment::next_generation(ref.generation)};
    const uint64_t ticks = now_ticks(state);
    thread.writer->intent.store(ended.pack(), std::memory_order_release);
    TTMEM_TEST_POINT("free: intent set");
    if (__builtin_expect(!target.retire(ref.generation), 0)) {
        thread.writer->intent.store(0, std::memory_order_release);
        return Freed::no;
    }
    TTMEM_TEST_POINT("free: slot retired");
    const segment::Allocation a = load_allocation(target);
    write_event(state, thread, event_of(segment::EventType::free, a, ended, ticks));
    TTMEM_TEST_POINT("free: event written");
    count_in_pool(state, thread, a, UINT64_MAX);
    TTMEM_TEST_POINT("free: counted");
    thread.writer->intent.store(0, std::memory_order_release);
    return is_indexed(a) ? Freed::yes_and_indexed : Freed::yes;
}

inline void reuse_slot(State& state, Thread& thread, uint32_t slot) {
    if (__builtin_expect(thread.magazine_count == kMagazine, 0)) {
        spill_magazine(state, thread);
    }
    thread.magazine[thread.magazine_count++] = slot;
}

inline ttmem_handle handle_of(const State& state, segment::SlotRef ref) {
    return ref.generation == 0 ? 0 : ref.pack() ^ state.session.load(std::memory_order_relaxed);
}

inline segment::SlotRef slot_of(const State& state, ttmem_handle handle) {
    return segment::SlotRef::unpack(handle ^ state.session.load(std::memory_order_relaxed));
}

constexpr uint32_t kNoKind = 0xff;  // what describe() refuses as unknown

// What the caller says an allocation is, checked. False: it was counted as inexact and must not be recorded.
inline bool describe(State& state, ttmem_set set, uint32_t kind_and_flags, uint64_t requested,
                     uint64_t reserved, segment::Allocation& a) {
    using segment::Inexact;
    const uint32_t index = set & 0xff;
    const uint32_t kind = kind_and_flags & 0xff;
    if (__builtin_expect(index >= segment::kMaxSets || set == 0 ||
                             state.set_token[index].load(std::memory_order_relaxed) != set,
                         0)) {
        count(state, Inexact::unknown_set);
        return false;
    }
    if (__builtin_expect(kind >= segment::kKinds || (kind_and_flags & ~0x3ffu) != 0, 0)) {
        count(state, Inexact::unknown_kind);
        return false;
    }
    a.flags = static_cast<uint16_t>(kind_and_flags >> 8);
    if (reserved == TTMEM_UNKNOWN) {
        reserved = requested;
        a.flags |= segment::kReservedUnknown;
    }
    if (__builtin_expect((requested | reserved) > segment::kMaxAllocationBytes, 0)) {
        count(state, Inexact::implausible_size);
        return false;
    }
    a.kind = static_cast<segment::Kind>(kind);
    a.set = static_cast<uint8_t>(index);
    a.requested = requested;
    a.reserved = reserved;
    a.name = tls.name;
    return true;
}
static_assert((TTMEM_PLANNED >> 8) == segment::kPlanned && (TTMEM_VIEW >> 8) == segment::kView);

}  // namespace ttmem::client
