// SPDX-License-Identifier: Apache-2.0

// Circular buffers and kernels belong to programs, and go with them.

#include "client/allocations.hpp"
#include "client/index.hpp"
#include "client/names.hpp"
#include "segment/keyed_rules.hpp"

namespace ttmem::client {

using segment::Allocation;
using segment::AllocationKind;
using segment::SlotRef;

namespace {

bool is_of_program(const Allocation& a, uint64_t program) {
    return !a.flags.has(segment::AllocationFlag::keyed) && a.kind >= AllocationKind::cb && a.owner == program;
}

uint32_t core_count(const ttmem_cores& cores) {
    uint32_t total = 0;
    for (const uint16_t row : cores.row) {
        total += static_cast<uint32_t>(__builtin_popcount(row));
    }
    return total;
}

// The allocation must be in the chain before anyone can free it, hence one lock around both.
ttmem_handle record_in_chain(State& state, Recorder& recorder, Chain& chain, Allocation& a) {
    const SlotRef ref = record_allocation(state, recorder, a);
    if (ref.generation != 0) {
        chain.push(ref.slot);
    }
    return handle_of(state, ref);
}

// A kernel of the same type that is already loaded on each of these devices; 0 if there is none.
ttmem_handle find_kernel(const State& state, const Chain& chain, uint64_t program, AllocationKind kind,
                         uint64_t members) {
    for (uint32_t slot = chain.first(); slot != kNoSlot; slot = chain.next(slot)) {
        uint64_t payload[segment::LedgerSlot::kPayloadWords];
        const uint64_t generation = state.ledger[slot].read(payload);
        const Allocation a = segment::decode_allocation(payload);
        if (generation != 0 && is_of_program(a, program) && a.kind == kind &&
            (members & ~members_of(state, a.set)) == 0) {
            return handle_of(state, {slot, generation});
        }
    }
    return 0;
}

}  // namespace

}  // namespace ttmem::client

using namespace ttmem::client;
using ttmem::segment::Allocation;

extern "C" ttmem_handle ttmem_allocate_cb(ttmem_set set, uint64_t program, uint64_t address, uint64_t size,
                                          const ttmem_cores* cores, uint32_t flags) {
    if (is_off()) {
        return 0;
    }
    const ApiCall call;
    if (!call) {
        return 0;
    }
    State& state = call.state();
    Allocation a;
    uint64_t reserved = TTMEM_UNKNOWN;
    if (cores != nullptr && size <= ttmem::segment::kMaxAllocationBytes) {
        reserved = size * core_count(*cores);
    }
    // Other bits would make another kind of it.
    const uint32_t kind =
        (flags & ~(TTMEM_PLANNED | TTMEM_VIEW)) == 0 ? TTMEM_CB | flags : ttmem::segment::kNoKind;
    if (!describe(state, set, kind, size, reserved, a)) {
        return 0;
    }
    a.address = address;
    a.owner = program;
    a.core_set = intern_cores(state, cores);
    Chain chain(state, bucket_of(state, a));
    return record_in_chain(state, call.recorder(), chain, a);
}

extern "C" ttmem_handle ttmem_load_kernel(ttmem_set set, uint64_t program, ttmem_kind kernel_kind,
                                          uint64_t bytes) {
    if (is_off()) {
        return 0;
    }
    const ApiCall call;
    if (!call) {
        return 0;
    }
    State& state = call.state();
    Allocation a;
    if (kernel_kind < TTMEM_KERNEL_APPLICATION || kernel_kind > TTMEM_KERNEL_DISPATCH) {
        count(state, ttmem::segment::Inexact::unknown_kind);
        return 0;
    }
    if (!describe(state, set, kernel_kind, bytes, bytes, a)) {
        return 0;
    }
    a.address = program;
    a.owner = program;
    Chain chain(state, bucket_of(state, a));
    const ttmem_handle known = find_kernel(state, chain, program, a.kind, members_of(state, a.set));
    return known != 0 ? known : record_in_chain(state, call.recorder(), chain, a);
}

extern "C" void ttmem_program_gone(uint64_t program) {
    if (is_off()) {
        return;
    }
    const ApiCall call;
    if (!call) {
        return;
    }
    State& state = call.state();
    Chain chain(state, bucket_of(state, kPrograms, program));
    uint64_t what = 0;
    for (uint32_t slot = chain.first(); slot != kNoSlot;) {
        const uint32_t next = chain.next(slot);
        const ttmem::segment::SlotRef ref{slot, state.ledger[slot].generation()};
        if (ttmem::segment::is_live(ref.generation) &&
            is_of_program(load_allocation(state.ledger[slot]), program) &&
            call.recorder().events.free(ref, now_ticks(state, call.recorder()), what)) {
            chain.remove(slot);
            reuse_slot(state, call.recorder(), slot);
        }
        slot = next;
    }
}
