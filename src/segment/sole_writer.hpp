// SPDX-License-Identifier: Apache-2.0
#pragma once

// The writer's side of a segment for who writes it alone, from one thread: a source that keeps a ledger on behalf of a process
// that has none of its own. The same order as in src/client (intent, ledger, ring, counters, intent cleared), so readers
// can't tell the difference; but no magazines, no tallies of others and no atomic addition.

#include <cstdint>
#include <string_view>

#include "segment/layout.hpp"
#include "ttmem/ttmem.h"

namespace ttmem::segment {

class SoleWriter {
public:
    static uint64_t bytes_of(const Sizes& sizes);

    // Which part of the memory a region takes.
    static Region region_of(const Sizes& sizes, RegionId id);

    // Lays an empty segment out in memory that is zero, has bytes_of(sizes) and outlives this object.
    SoleWriter(unsigned char* memory, const Sizes& sizes, uint32_t pid, uint64_t start_time);

    // Each returns the index of what it adds; the caller keeps to the limits.
    uint32_t add_name(std::string_view text);
    uint32_t add_device(const ttmem_device_info& info);
    uint8_t open_set(uint64_t members, uint32_t label, uint64_t ticks);

    // From now on slots below `count` may be used.
    void use_slots(uint32_t count);

    // Makes a free slot live, at the time `a` says.
    void allocate(uint32_t slot, const Allocation& a);
    void free(uint32_t slot, uint64_t ticks);

    // What stands in a live slot.
    Allocation at(uint32_t slot) const;

    void count(Inexact what);
    void add_failure(const Failure& failure);

private:
    template <class T>
    T* region(RegionId id) const;
    void tell(EventType type, const Allocation& a, SlotRef slot, uint64_t ticks);
    void count_in_pool(const Allocation& a, uint64_t direction);

    unsigned char* memory_;
    Header& header_;
    Writer& writer_;
    RingRecord* ring_;
    uint64_t ring_records_;
    LedgerSlot* ledger_;
    Pool* pools_;
    Tally* tallies_;
};

}  // namespace ttmem::segment
