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

// The live kernels of one program and type.
class KernelsOfProgram {
public:
    KernelsOfProgram(const State& state, const Chain& chain, uint64_t program, AllocationKind kind)
        : state_(state), chain_(chain), program_(program), kind_(kind) {}

    // Calls `visit(ref, members)` for each, until it returns false.
    template <class Visit>
    void visit_each(Visit&& visit) const {
        for (uint32_t slot = chain_.first(); slot != kNoSlot;) {
            const uint32_t next = chain_.next(slot);
            uint64_t payload[segment::LedgerSlot::kPayloadWords];
            const uint64_t generation = state_.ledger[slot].read(payload);
            const Allocation a = segment::decode_allocation(payload);
            if (generation != 0 && is_of_program(a, program_) && a.kind == kind_ &&
                !visit(SlotRef{slot, generation}, members_of(state_, a.set))) {
                return;
            }
            slot = next;
        }
    }

private:
    const State& state_;
    const Chain& chain_;
    const uint64_t program_;
    const AllocationKind kind_;
};

// The largest open set that has no members but these; kMaxSets: there is none.
uint32_t largest_set_within(const State& state, uint64_t members) {
    const auto* sets = region<segment::SetSlot>(state, segment::RegionId::sets);
    const auto used = static_cast<uint32_t>(state.header->sets_used.load(std::memory_order_relaxed));
    uint32_t best = segment::kMaxSets;
    int most = 0;
    for (uint32_t set = 0; set < used; ++set) {
        const uint64_t of_set = members_of(state, static_cast<uint8_t>(set));
        const bool is_open = sets[set].word[segment::kClosedTicksWord].load(std::memory_order_relaxed) == 0;
        if (is_open && (of_set & ~members) == 0 && __builtin_popcountll(of_set) > most) {
            most = __builtin_popcountll(of_set);
            best = set;
        }
    }
    return best;
}

// Divides `members` into open sets. 0: there are no such sets.
uint32_t divide_into_sets(const State& state, uint64_t members, uint8_t (&sets)[segment::kMaxDevices]) {
    uint32_t parts = 0;
    while (members != 0) {
        const uint32_t set = largest_set_within(state, members);
        if (set == segment::kMaxSets) {
            return 0;
        }
        sets[parts++] = static_cast<uint8_t>(set);
        members &= ~members_of(state, static_cast<uint8_t>(set));
    }
    return parts;
}

// Records a kernel on those devices of its set that lack it. A chip has the text of a program once, however many launches
// cover it.
ttmem_handle record_kernel(State& state, Recorder& recorder, Chain& chain, Allocation& a) {
    const uint64_t members = members_of(state, a.set);
    const KernelsOfProgram kernels(state, chain, a.owner, a.kind);
    uint64_t covered = 0;
    ttmem_handle known = 0;
    kernels.visit_each([&](const SlotRef& ref, uint64_t of_kernel) {
        covered |= of_kernel;
        const bool has_all = (members & ~of_kernel) == 0;
        if (has_all || (known == 0 && (members & of_kernel) != 0)) {
            known = handle_of(state, ref);
        }
        return !has_all;
    });
    if ((members & ~covered) == 0) {
        return known;
    }
    if ((members & covered) == 0) {
        return record_in_chain(state, recorder, chain, a);
    }
    uint8_t sets[segment::kMaxDevices] = {};
    const uint32_t parts = divide_into_sets(state, members & ~covered, sets);
    for (uint32_t i = 0; i < parts; ++i) {
        a.set = sets[i];
        known = record_in_chain(state, recorder, chain, a);
    }
    if (parts != 0) {
        return known;
    }
    // No sets of the devices that lack it: the new kernel stands for those on parts of its set.
    kernels.visit_each([&](const SlotRef& ref, uint64_t of_kernel) {
        uint64_t what = 0;
        if ((of_kernel & ~members) == 0 && recorder.events.free(ref, now_ticks(state, recorder), what)) {
            chain.remove(ref.slot);
            reuse_slot(state, recorder, ref.slot);
        }
        return true;
    });
    return record_in_chain(state, recorder, chain, a);
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
    constexpr uint32_t kFlags = TTMEM_PLANNED | TTMEM_VIEW | TTMEM_DATAFLOW | TTMEM_SCRATCHPAD;
    const uint32_t kind = (flags & ~kFlags) == 0 ? TTMEM_CB | flags : ttmem::segment::kNoKind;
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
    return record_kernel(state, call.recorder(), chain, a);
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
