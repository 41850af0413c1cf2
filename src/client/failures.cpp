// SPDX-License-Identifier: Apache-2.0
#include "client/failures.hpp"

#include <string.h>

#include "client/recorder.hpp"

namespace ttmem::client {

using segment::Failure;
using segment::FailureSlot;
using segment::FailureType;
using segment::RegionId;

namespace {

// The entries are few and cold: one lock, and the slot protocol towards readers.
uint32_t write_failure(State& state, Failure& failure) {
    failure.ticks = now_ticks(state);
    failure.thread = tls.id;
    failure.name = tls.name;
    uint64_t payload[FailureSlot::kPayloadWords];
    memcpy(payload, &failure, sizeof payload);

    Lock lock(state.lock);
    segment::Word& total = state.header->failures[failure.type];
    const uint64_t number = total.load(std::memory_order_relaxed);
    const uint32_t index = segment::failure_index(static_cast<FailureType>(failure.type), number);
    FailureSlot& slot = region<FailureSlot>(state, RegionId::failures)[index];
    if (segment::is_live(slot.generation())) {
        slot.retire(slot.generation());
    }
    slot.publish(payload, segment::next_generation(slot.generation()));
    total.store(number + 1, std::memory_order_release);
    return index;
}

// What is in the way is copied now: it may be gone when somebody reads.
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

void report(FailureType type, const ttmem_failure* from) {
    if (is_off() || from == nullptr) {
        return;
    }
    const Call call;
    if (!call) {
        return;
    }
    State& state = call.state();
    const uint32_t index = from->set & 0xff;
    if (from->set == 0 || index >= segment::kMaxSets ||
        state.set_token[index].load(std::memory_order_relaxed) != from->set) {
        count(state, segment::Inexact::unknown_set);
        return;
    }
    if (from->kind >= segment::kKinds) {
        count(state, segment::Inexact::unknown_kind);
        return;
    }
    Failure failure;
    failure.type = static_cast<uint8_t>(type);
    failure.kind = static_cast<uint8_t>(from->kind);
    failure.set = static_cast<uint8_t>(index);
    failure.core_x = static_cast<uint8_t>(from->core_x);
    failure.core_y = static_cast<uint8_t>(from->core_y);
    failure.requested = from->requested;
    failure.needed = from->needed;
    failure.free = from->free;
    failure.largest_free = from->largest_free;
    failure.program = from->program;
    failure.members = members_of(state, failure.set);
    describe_blocker(state, from->in_the_way, failure);
    const uint32_t place = write_failure(state, failure);

    segment::Event event;
    event.type = segment::EventType::failure;
    event.kind = static_cast<segment::Kind>(from->kind);
    event.ticks = failure.ticks;
    event.slot = {place, 0};
    event.address = static_cast<uint64_t>(type);
    event.requested = from->requested & segment::kMaxAllocationBytes;
    event.name = static_cast<uint16_t>(failure.name);
    event.set = failure.set;
    write_event(state, call.thread(), event);
}

}  // namespace

void report_unknown_free(State& state, const int32_t* device, uint64_t what) {
    Failure failure;
    failure.type = static_cast<uint8_t>(FailureType::unknown_free);
    failure.address = what;
    failure.has_device = device != nullptr;
    failure.device = device != nullptr ? *device : 0;
    write_failure(state, failure);
}

}  // namespace ttmem::client

extern "C" void ttmem_allocation_failed(const ttmem_failure* failure) {
    ttmem::client::report(ttmem::segment::FailureType::out_of_memory, failure);
}

extern "C" void ttmem_cb_clashed(const ttmem_failure* failure) {
    ttmem::client::report(ttmem::segment::FailureType::cb_clash, failure);
}
