// SPDX-License-Identifier: Apache-2.0
#pragma once

// The hot path: recording one event with the writer of src/segment/writer.hpp. No lock, no system call, no heap; an empty
// or full magazine of slots is the rare exception.

#include "client/clock.hpp"
#include "client/index.hpp"
#include "client/state.hpp"

namespace ttmem::client {

// Fetches or returns half a magazine of slots, under a lock.
bool refill_magazine(State& state, Recorder& recorder);
void spill_magazine(State& state, Recorder& recorder);

inline uint64_t now_ticks(State& state, const Recorder& recorder) {
    if (__builtin_expect(recorder.gate != kLongWay, 1)) {
        return read_counter();
    }
    return thread_ticks(state);
}

// A slot of the magazine, which is not empty, for `a`.
inline uint32_t take_slot(Recorder& recorder, segment::Allocation& a, uint64_t ticks) {
    a.ticks = ticks;
    a.thread = tls.id;
    return recorder.magazine[--recorder.magazine_count];
}

// Makes `a` live. A generation of 0 in the result: it could not be recorded, and was counted.
[[gnu::always_inline]] inline segment::SlotRef record_allocation(State& state, Recorder& recorder,
                                                                 segment::Allocation& a) {
    if (__builtin_expect(recorder.magazine_count == 0, 0) && !refill_magazine(state, recorder)) {
        return {};
    }
    return recorder.events.allocate(take_slot(recorder, a, now_ticks(state, recorder)), a);
}

inline segment::Allocation load_allocation(const segment::LedgerSlot& slot) {
    uint64_t payload[segment::kLedgerPayloadWords];
#pragma GCC unroll 8
    for (size_t i = 0; i < segment::kLedgerPayloadWords; ++i) {
        payload[i] = slot.word[1 + i].load(std::memory_order_relaxed);
    }
    return segment::decode_allocation(payload);
}

// Gives a free slot back, after the caller has taken it out of the index where it is in one.
inline void reuse_slot(State& state, Recorder& recorder, uint32_t slot) {
    if (__builtin_expect(recorder.magazine_count == kMagazine, 0)) {
        spill_magazine(state, recorder);
    }
    recorder.magazine[recorder.magazine_count++] = slot;
}

inline ttmem_handle handle_of(const State& state, segment::SlotRef ref) {
    return ref.generation == 0 ? 0 : ref.pack() ^ state.id.load(std::memory_order_relaxed);
}

inline segment::SlotRef slot_of(const State& state, ttmem_handle handle) {
    return segment::SlotRef::unpack(handle ^ state.id.load(std::memory_order_relaxed));
}

inline bool is_open_set(const State& state, ttmem_set set) {
    return __builtin_expect(state.set_token[set & 0xff].load(std::memory_order_relaxed) == set, 1);
}

// The flags that only this kind may have. Most calls have none of them.
inline uint32_t special_flags(uint32_t kind, uint32_t wanted) {
    if (__builtin_expect(wanted == 0, 1)) {
        return 0;
    }
    return kind == TTMEM_CB ? TTMEM_DATAFLOW | TTMEM_SCRATCHPAD : kind == TTMEM_L1 ? TTMEM_PER_CORE : 0u;
}

// Fills `a` from what the caller reports, checked. False: it was counted as inexact and must not be recorded.
inline bool describe(State& state, ttmem_set set, uint32_t kind_and_flags, uint64_t requested,
                     uint64_t reserved, segment::Allocation& a) {
    using segment::Inexact;
    const uint32_t kind = kind_and_flags & 0xff;
    if (__builtin_expect(!is_open_set(state, set), 0)) {
        count(state, Inexact::unknown_set);
        return false;
    }
    const uint32_t special = kind_and_flags & ~(0xffu | TTMEM_PLANNED | TTMEM_VIEW);
    if (__builtin_expect(kind >= segment::kKinds || (special & ~special_flags(kind, special)) != 0, 0)) {
        count(state, Inexact::unknown_kind);
        return false;
    }
    a.flags = segment::AllocationFlags(static_cast<uint16_t>(kind_and_flags >> 8));
    if (reserved == TTMEM_UNKNOWN) {
        reserved = requested;
        a.flags |= segment::AllocationFlag::reserved_unknown;
    }
    if (__builtin_expect((requested | reserved) > segment::kMaxAllocationBytes, 0)) {
        count(state, Inexact::implausible_size);
        return false;
    }
    a.kind = static_cast<segment::AllocationKind>(kind);
    a.set = static_cast<uint8_t>(set);
    a.requested = requested;
    a.reserved = reserved;
    a.name = tls.name;
    return true;
}
static_assert(TTMEM_PLANNED >> 8 == uint32_t(segment::AllocationFlag::planned) &&
              TTMEM_VIEW >> 8 == uint32_t(segment::AllocationFlag::view) &&
              TTMEM_DATAFLOW >> 8 == uint32_t(segment::AllocationFlag::dataflow) &&
              TTMEM_SCRATCHPAD >> 8 == uint32_t(segment::AllocationFlag::scratchpad) &&
              TTMEM_PER_CORE >> 8 == uint32_t(segment::AllocationFlag::per_core));

}  // namespace ttmem::client
