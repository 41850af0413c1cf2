// SPDX-License-Identifier: Apache-2.0
#include "client/allocations.hpp"

#include "client/failures.hpp"
#include "segment/keyed_rules.hpp"

namespace ttmem::client {

using segment::Inexact;
using segment::RegionId;
using segment::SlotRef;

bool refill_magazine(State& state, Recorder& recorder) {
    Lock lock(state.slot_lock);
    while (state.free_slot_count != 0 && recorder.magazine_count < kMagazineHalf) {
        recorder.magazine[recorder.magazine_count++] = state.free_slots[--state.free_slot_count];
    }
    if (recorder.magazine_count != 0) {
        return true;
    }
    const auto used = static_cast<uint32_t>(state.header->slots_used.load(std::memory_order_relaxed));
    const uint32_t fresh = state.slots - used < kMagazineHalf ? state.slots - used : kMagazineHalf;
    if (fresh == 0) {
        count(state, Inexact::ledger_full);
        return false;
    }
    if (!back(state, RegionId::ledger, state.ledger_backing, used + fresh)) {
        count(state, Inexact::no_host_memory);
        return false;
    }
    state.header->slots_used.store(used + fresh, std::memory_order_release);
    state.slots_used.store(used + fresh, std::memory_order_release);
    for (uint32_t i = fresh; i != 0; --i) {
        recorder.magazine[recorder.magazine_count++] = used + i - 1;
    }
    return true;
}

void spill_magazine(State& state, Recorder& recorder) {
    Lock lock(state.slot_lock);
    while (recorder.magazine_count > kMagazineHalf) {
        state.free_slots[state.free_slot_count++] = recorder.magazine[--recorder.magazine_count];
    }
}

bool free_slot(State& state, Recorder& recorder, SlotRef ref) {
    uint64_t what = 0;
    if (!recorder.events.free(ref, now_ticks(state, recorder), what)) {
        return false;
    }
    if (is_indexed(what)) {
        unindex(state, ref.slot);
    }
    reuse_slot(state, recorder, ref.slot);
    return true;
}

void free_set(State& state, Recorder& recorder, uint32_t set) {
    const auto slots = static_cast<uint32_t>(state.header->slots_used.load(std::memory_order_acquire));
    for (uint32_t slot = 0; slot < slots; ++slot) {
        uint64_t payload[segment::LedgerSlot::kPayloadWords];
        const uint64_t generation = state.ledger[slot].read(payload);
        if (generation != 0 && segment::decode_allocation(payload).set == set) {
            free_slot(state, recorder, {slot, generation});
        }
    }
}

namespace {

// A handle that names nothing live: it was freed before, or it never was a handle.
__attribute__((cold)) void count_bad_free(State& state, SlotRef ref) {
    const bool was_live = ref.slot < state.header->slots_used.load(std::memory_order_acquire) &&
                          segment::is_live(ref.generation) &&
                          ref.generation < state.ledger[ref.slot].generation();
    if (was_live) {
        count(state, Inexact::double_free);
    } else {
        count(state, Inexact::unknown_free);
        report_unknown_free(state, nullptr, ref.pack());
    }
}

// ttmem_allocate() and ttmem_free() for everything that the short way leaves out.
__attribute__((noinline)) ttmem_handle allocate_long_way(ttmem_set set, uint32_t kind, uint64_t address,
                                                         uint64_t requested, uint64_t reserved,
                                                         uint64_t owner) {
    const ApiCall call;
    segment::Allocation a;
    // Circular buffers and kernels belong to a program and have calls of their own.
    const uint32_t buffer_kind = (kind & 0xff) <= TTMEM_TRACE ? kind : segment::kNoKind;
    if (!call || !describe(call.state(), set, buffer_kind, requested, reserved, a)) {
        return 0;
    }
    a.address = address;
    a.owner = owner;
    return handle_of(call.state(), record_allocation(call.state(), call.recorder(), a));
}

__attribute__((noinline)) void free_long_way(ttmem_handle handle) {
    if (is_off() || handle == 0) {
        return;
    }
    const ApiCall call;
    if (!call) {
        return;
    }
    State& state = call.state();
    const SlotRef ref = slot_of(state, handle);
    if (ref.slot >= state.slots_used.load(std::memory_order_relaxed) || !segment::is_live(ref.generation) ||
        !free_slot(state, call.recorder(), ref)) {
        count_bad_free(state, ref);
    }
}

// After a free on the short way: what is rare, still inside the call.
__attribute__((noinline)) void finish_free(State& state, Recorder& recorder, uint32_t slot, uint64_t what) {
    if (is_indexed(what)) {
        unindex(state, slot);
    }
    reuse_slot(state, recorder, slot);
    open_gate(recorder.gate);
}

// The same for events of a pool that is paused.
__attribute__((noinline, cold)) ttmem_handle end_allocate(Recorder& recorder, SlotRef ref, uint32_t pool,
                                                          uint64_t level) {
    recorder.events.end({pool, level});
    const uint64_t session = recorder.gate;
    open_gate(session);
    return ref.pack() ^ session;
}

__attribute__((noinline, cold)) void end_free(Recorder& recorder, uint32_t slot, uint64_t what, uint32_t pool,
                                              uint64_t level) {
    recorder.events.end({pool, level});
    finish_free(*g_state, recorder, slot, what);
}

__attribute__((noinline, cold)) void refuse_free(State& state, const Recorder& recorder, SlotRef ref) {
    count_bad_free(state, ref);
    open_gate(recorder.gate);
}

}  // namespace

}  // namespace ttmem::client

using namespace ttmem::client;
using ttmem::segment::Allocation;
using ttmem::segment::PausedPool;
using ttmem::segment::Recorded;
using ttmem::segment::SlotRef;

// The short way has no call inside, so that the compiler keeps everything in registers. It is for a thread with an open
// gate, an open set, a plain buffer of known size and a slot at hand.
static __attribute__((noinline)) ttmem_handle allocate_short_way(ttmem_set set, uint32_t kind,
                                                                 uint64_t address, uint64_t requested,
                                                                 uint64_t reserved, uint64_t owner) {
    const State& state = *static_cast<const State*>(tls.session_word);
    Recorder& recorder = *tls.recorder;
    if (__builtin_expect(kind <= TTMEM_TRACE, 1) && is_open_set(state, set) &&
        __builtin_expect((requested | reserved) <= ttmem::segment::kMaxAllocationBytes, 1)) {
        close_gate();
        if (__builtin_expect(recorder.magazine_count != 0, 1)) {
            Allocation a;
            a.address = address;
            a.requested = requested;
            a.reserved = reserved;
            a.owner = owner;
            a.name = tls.name;
            a.set = static_cast<uint8_t>(set);
            a.kind = static_cast<ttmem::segment::AllocationKind>(kind);
            SlotRef ref;
            PausedPool paused;
            const uint32_t slot = take_slot(recorder, a, read_counter());
            if (__builtin_expect(recorder.events.begin_allocate(slot, a, ref, paused) == Recorded::paused,
                                 0)) {
                return end_allocate(recorder, ref, paused.pool, paused.level);
            }
            const uint64_t session = recorder.gate;
            open_gate(session);
            return ref.pack() ^ session;
        }
        open_gate(recorder.gate);
    }
    return allocate_long_way(set, kind, address, requested, reserved, owner);
}

// Jumps on without a frame of its own: a process that is not tracked pays for two comparisons only.
extern "C" ttmem_handle ttmem_allocate(ttmem_set set, uint32_t kind, uint64_t address, uint64_t requested,
                                       uint64_t reserved, uint64_t owner) {
    if (gate_is_open()) {
        return allocate_short_way(set, kind, address, requested, reserved, owner);
    }
    return is_off() ? 0 : allocate_long_way(set, kind, address, requested, reserved, owner);
}

extern "C" void ttmem_free(ttmem_handle handle) {
    if (!gate_is_open()) {
        return free_long_way(handle);
    }
    State& state = *g_state;
    Recorder& recorder = *tls.recorder;
    const SlotRef ref = SlotRef::unpack(handle ^ recorder.gate);
    if (__builtin_expect(ref.slot >= state.slots_used.load(std::memory_order_relaxed) ||
                             !ttmem::segment::is_live(ref.generation),
                         0)) {
        return free_long_way(handle);
    }
    close_gate();
    uint64_t what = 0;
    PausedPool paused;
    const Recorded recorded = recorder.events.begin_free(ref, read_counter(), what, paused);
    if (__builtin_expect(recorded == Recorded::not_live, 0)) {
        return refuse_free(state, recorder, ref);
    }
    if (__builtin_expect(recorded == Recorded::paused, 0)) {
        return end_free(recorder, ref.slot, what, paused.pool, paused.level);
    }
    if (__builtin_expect(is_indexed(what) || recorder.magazine_count == kMagazine, 0)) {
        return finish_free(state, recorder, ref.slot, what);
    }
    recorder.magazine[recorder.magazine_count++] = ref.slot;
    open_gate(recorder.gate);
}
