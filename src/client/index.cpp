// SPDX-License-Identifier: Apache-2.0
#include "client/index.hpp"

#include "client/recorder.hpp"

namespace ttmem::client {

uint32_t bucket_of(const State& state, uint32_t scope, uint64_t key) {
    uint64_t hash = key + (uint64_t{scope} + 1) * 0x9e3779b97f4a7c15;
    hash = (hash ^ hash >> 32) * 0xd6e8feb86659fd93;
    hash = (hash ^ hash >> 32) * 0xd6e8feb86659fd93;
    return static_cast<uint32_t>(hash >> 32) & state.bucket_mask;
}

uint32_t bucket_of(const State& state, const segment::Allocation& a) {
    const bool keyed = a.flags.has(segment::AllocationFlag::keyed);
    return keyed ? bucket_of(state, a.set, a.address) : bucket_of(state, kPrograms, a.owner);
}

void Chain::push(uint32_t slot) {
    const uint32_t head = state_.buckets[bucket_].load(std::memory_order_relaxed);
    state_.links[slot] = {head, 0, 1};
    if (head != 0) {
        state_.links[head - 1].previous = slot + 1;
    }
    state_.buckets[bucket_].store(slot + 1, std::memory_order_relaxed);
}

void Chain::remove(uint32_t slot) {
    const ChainLink link = state_.links[slot];
    if (link.previous != 0) {
        state_.links[link.previous - 1].next = link.next;
    } else {
        state_.buckets[bucket_].store(link.next, std::memory_order_relaxed);
    }
    if (link.next != 0) {
        state_.links[link.next - 1].previous = link.previous;
    }
}

void unindex(State& state, uint32_t slot) {
    Chain chain(state, bucket_of(state, load_allocation(state.ledger[slot])));
    chain.remove(slot);
}

}  // namespace ttmem::client
