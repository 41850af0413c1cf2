// SPDX-License-Identifier: Apache-2.0
#include "client/allocations.hpp"

#include "client/failures.hpp"

namespace ttmem::client {

using segment::Inexact;
using segment::RegionId;
using segment::SlotRef;

bool refill_magazine(State& state, Thread& thread) {
    Lock lock(state.slot_lock);
    while (state.free_slot_count != 0 && thread.magazine_count < kMagazineHalf) {
        thread.magazine[thread.magazine_count++] = state.free_slots[--state.free_slot_count];
    }
    if (thread.magazine_count != 0) {
        return true;
    }
    const auto used = static_cast<uint32_t>(state.header->slots_used.load(std::memory_order_relaxed));
    const uint32_t fresh = state.slots - used < kMagazineHalf ? state.slots - used : kMagazineHalf;
    if (fresh == 0) {
        count(state, Inexact::ledger_full);
        return false;
    }
    if (!back(state, RegionId::ledger, state.ledger_backed, used + fresh)) {
        count(state, Inexact::no_host_memory);
        return false;
    }
    state.header->slots_used.store(used + fresh, std::memory_order_release);
    for (uint32_t i = fresh; i != 0; --i) {
        thread.magazine[thread.magazine_count++] = used + i - 1;
    }
    return true;
}

void spill_magazine(State& state, Thread& thread) {
    Lock lock(state.slot_lock);
    while (thread.magazine_count > kMagazineHalf) {
        state.free_slots[state.free_slot_count++] = thread.magazine[--thread.magazine_count];
    }
}

bool free_slot(State& state, Thread& thread, SlotRef ref) {
    const Freed freed = record_free(state, thread, ref);
    if (freed == Freed::no) {
        return false;
    }
    if (__builtin_expect(freed == Freed::yes_and_indexed, 0)) {
        unindex(state, ref.slot);
    }
    reuse_slot(state, thread, ref.slot);
    return true;
}

void free_set(State& state, Thread& thread, uint32_t set) {
    const auto slots = static_cast<uint32_t>(state.header->slots_used.load(std::memory_order_acquire));
    for (uint32_t slot = 0; slot < slots; ++slot) {
        uint64_t payload[segment::LedgerSlot::kPayloadWords];
        const uint64_t generation = state.ledger[slot].read(payload);
        if (generation != 0 && segment::decode_allocation(payload).set == set) {
            free_slot(state, thread, {slot, generation});
        }
    }
}

namespace {

// Why a handle names nothing live: it did once, or it never did.
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

}  // namespace

}  // namespace ttmem::client

using namespace ttmem::client;

extern "C" ttmem_handle ttmem_allocate(ttmem_set set, uint32_t kind, uint64_t address, uint64_t requested,
                                       uint64_t reserved, uint64_t owner) {
    if (is_off()) {
        return 0;
    }
    const Call call;
    ttmem::segment::Allocation a;
    // Circular buffers and kernels belong to a program and have calls of their own.
    const uint32_t buffer_kind = (kind & 0xff) <= TTMEM_TRACE ? kind : kNoKind;
    if (!call || !describe(call.state(), set, buffer_kind, requested, reserved, a)) {
        return 0;
    }
    a.address = address;
    a.owner = owner;
    return handle_of(call.state(), record_allocation(call.state(), call.thread(), a));
}

extern "C" void ttmem_free(ttmem_handle handle) {
    if (is_off() || handle == 0) {
        return;
    }
    const Call call;
    if (!call) {
        return;
    }
    State& state = call.state();
    const ttmem::segment::SlotRef ref = slot_of(state, handle);
    if (__builtin_expect(ref.slot >= state.header->slots_used.load(std::memory_order_relaxed) ||
                             !ttmem::segment::is_live(ref.generation) ||
                             !free_slot(state, call.thread(), ref),
                         0)) {
        count_bad_free(state, ref);
    }
}
