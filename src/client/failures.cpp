// SPDX-License-Identifier: Apache-2.0
#include "client/failures.hpp"

#include "client/cards.hpp"
#include "client/clock.hpp"
#include "client/recorder.hpp"

namespace ttmem::client {

using segment::Failure;
using segment::FailureSlot;
using segment::FailureType;
using segment::RegionId;

namespace {

void note_place(State& state, Failure& failure) {
    failure.ticks = thread_ticks(state);
    failure.thread = tls.id;
    failure.name = tls.name;
}

// Failures are few, so one lock serves all writers.
uint32_t write_failure(State& state, const Failure& failure) {
    Lock lock(state.lock);
    return segment::write_failure(*state.header, region<FailureSlot>(state, RegionId::failures), failure);
}

// Copies the allocation in the way: it may be freed before anyone reads the failure.
void describe_blocker(const State& state, ttmem_handle handle, Failure& failure) {
    const segment::SlotRef ref = slot_of(state, handle);
    if (handle == 0 || ref.slot >= state.header->slots_used.load(std::memory_order_acquire)) {
        return;
    }
    uint64_t payload[segment::LedgerSlot::kPayloadWords];
    if (state.ledger[ref.slot].read(payload) != ref.generation) {
        return;
    }
    const segment::Allocation a = segment::decode_allocation(payload);
    failure.has_blocker = 1;
    failure.blocker_kind = static_cast<uint8_t>(a.kind);
    failure.blocker_address = a.address;
    failure.blocker_requested = a.requested;
    failure.blocker_reserved = a.reserved;
    failure.blocker_owner = a.owner;
    failure.blocker_name = a.name;
}

// Writes a failure of a set, and its event; counts it as inexact where the set or the kind is unknown.
void report(const ApiCall& call, FailureType type, ttmem_set set, uint32_t kind, Failure& failure,
            const RequestRules& rules = {}) {
    State& state = call.state();
    if (!is_open_set(state, set)) {
        count(state, segment::Inexact::unknown_set);
        return;
    }
    if (kind >= segment::kKinds) {
        count(state, segment::Inexact::unknown_kind);
        return;
    }
    failure.type = static_cast<uint8_t>(type);
    failure.kind = static_cast<uint8_t>(kind);
    failure.set = static_cast<uint8_t>(set);
    failure.members = members_of(state, failure.set);
    note_place(state, failure);
    write_card(call, failure, rules);  // first: a failure that a reader sees has its card
    const uint32_t entry = write_failure(state, failure);

    segment::Event event;
    event.type = segment::EventType::failure;
    event.failure = type;
    event.kind = static_cast<segment::AllocationKind>(kind);
    event.ticks = failure.ticks;
    event.slot = {entry, 0};
    event.requested = failure.requested & segment::kMaxAllocationBytes;
    event.name = static_cast<uint16_t>(failure.name);
    event.set = failure.set;
    call.recorder().events.append(event);
}

}  // namespace

void report_unknown_free(State& state, const int32_t* device, uint64_t what) {
    Failure failure;
    failure.type = static_cast<uint8_t>(FailureType::unknown_free);
    failure.address = what;
    failure.has_device = device != nullptr;
    failure.device = device != nullptr ? *device : 0;
    note_place(state, failure);
    write_failure(state, failure);
}

}  // namespace ttmem::client

using namespace ttmem::client;
using ttmem::segment::Failure;
using ttmem::segment::FailureType;

namespace {

void report_out_of_memory(const ttmem_out_of_memory& from, const RequestRules& rules) {
    const ApiCall call;
    if (!call) {
        return;
    }
    Failure failure;
    failure.requested = from.requested;
    failure.needed_per_bank = from.needed_per_bank;
    failure.free_per_bank = from.free_per_bank;
    failure.largest_free_per_bank = from.largest_free_per_bank;
    report(call, FailureType::out_of_memory, from.set, from.kind, failure, rules);
}

}  // namespace

extern "C" void ttmem_allocation_failed(const ttmem_out_of_memory* from) {
    if (!is_off() && from != nullptr) {
        report_out_of_memory(*from, {});
    }
}

extern "C" void ttmem_request_failed(const ttmem_failed_request* from) {
    if (!is_off() && from != nullptr) {
        report_out_of_memory(from->failure, {from->page_bytes, from->banks, from->direction});
    }
}

namespace {

// What both clashes have. The segment has 8 bits for each coordinate.
template <class Clash>
Failure failure_of(const Clash& clash) {
    Failure failure;
    failure.requested = clash.requested;
    failure.free_per_bank = clash.free_per_bank;
    failure.program = clash.program;
    failure.cb_end = clash.cb_end;
    const bool is_known =
        clash.core_x < ttmem::segment::kUnknownCore && clash.core_y < ttmem::segment::kUnknownCore;
    failure.core_x = is_known ? static_cast<uint8_t>(clash.core_x) : ttmem::segment::kUnknownCore;
    failure.core_y = is_known ? static_cast<uint8_t>(clash.core_y) : ttmem::segment::kUnknownCore;
    return failure;
}

}  // namespace

extern "C" void ttmem_cb_clashed(const ttmem_cb_clash* from) {
    if (is_off() || from == nullptr) {
        return;
    }
    const ApiCall call;
    if (!call) {
        return;
    }
    Failure failure = failure_of(*from);
    failure.lowest_buffer = from->lowest_buffer;
    describe_blocker(call.state(), from->blocker, failure);
    report(call, FailureType::cb_clash, from->set, TTMEM_CB, failure);
}

extern "C" void ttmem_cb_overflowed(const ttmem_cb_overflow* from) {
    if (is_off() || from == nullptr) {
        return;
    }
    const ApiCall call;
    if (!call) {
        return;
    }
    Failure failure = failure_of(*from);
    failure.l1_end = from->l1_end;
    report(call, FailureType::cb_clash, from->set, TTMEM_CB, failure);
}
