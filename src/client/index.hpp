// SPDX-License-Identifier: Apache-2.0
#pragma once

// The private index: hash chains through the slots, newest first. A slot is in it for one of two reasons: a program
// owns it (circular buffers and kernels, to be found when the program dies), or it was reported by device number and
// address (to be found when that is freed). Everyone else frees by handle and needs no index.

#include "client/state.hpp"

namespace ttmem::client {

// Slots reported by key rather than by handle carry this flag.
constexpr bool is_indexed(const segment::Allocation& a) {
    return (a.flags & segment::kKeyed) != 0 || a.kind >= segment::Kind::cb;
}

// What a slot is found by. `scope` is a set for keys (whose numbers are below kMaxSets), and kPrograms for programs.
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
    Link& link(uint32_t slot) const { return state_.links[slot]; }

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
