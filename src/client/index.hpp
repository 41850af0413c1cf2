// SPDX-License-Identifier: Apache-2.0
#pragma once

// The private index: hash chains through the slots, newest first. It holds the slots that a program owns (circular
// buffers and kernels, to be found when the program dies) and those reported by device number and address (to be found
// when that is freed). All others are freed by handle and need no index.

#include "client/state.hpp"

namespace ttmem::client {

// By the what word of a slot.
constexpr bool is_indexed(uint64_t what) {
    return segment::flags_in(what).has(segment::AllocationFlag::keyed) ||
           segment::kind_in(what) >= segment::AllocationKind::cb;
}

// The key of a slot. `scope` is a set for keyed slots (sets are below kMaxSets), and kPrograms for those of programs.
constexpr uint32_t kPrograms = segment::kMaxSets;

uint32_t bucket_of(const State& state, uint32_t scope, uint64_t key);
uint32_t bucket_of(const State& state, const segment::Allocation& a);

// A bucket, locked. Its chain may hold slots of other keys.
class Chain {
public:
    Chain(State& state, uint32_t bucket)
        : state_(state), bucket_(bucket), lock_(state.index_locks[bucket % kIndexLocks]) {}

    uint32_t first() const { return state_.buckets[bucket_].load(std::memory_order_relaxed) - 1; }
    uint32_t next(uint32_t slot) const { return state_.links[slot].next - 1; }
    ChainLink& link(uint32_t slot) const { return state_.links[slot]; }

    void push(uint32_t slot);
    void remove(uint32_t slot);

private:
    State& state_;
    uint32_t bucket_;
    Lock lock_;
};

// Takes a slot that has just been freed, and still holds what it held, out of its chain.
void unindex(State& state, uint32_t slot);

}  // namespace ttmem::client
