// SPDX-License-Identifier: Apache-2.0
#pragma once

// Writes a whole segment from one thread: for a source that keeps the ledger of a process that has none of its own, and
// for tests. Events are those of writer.hpp, so readers can't distinguish them from a client's; pools are not shared, so
// nothing is added atomically.

#include <cstdint>
#include <string_view>

#include "segment/layout.hpp"
#include "segment/writer.hpp"
#include "ttmem/ttmem.h"

namespace ttmem::segment {

struct OneWriterTraits : EventTraits {
    static constexpr bool kSharesPools = false;
};

class SegmentWriter {
public:
    static uint64_t bytes_of(const Sizes& sizes);

    // The part of the memory that a region takes.
    static Region region_of(const Sizes& sizes, RegionId id);

    // Lays an empty segment out in memory that is zero, has bytes_of(sizes) bytes and outlives this object.
    SegmentWriter(unsigned char* memory, const Sizes& sizes, uint32_t pid, uint64_t start_time);

    // Each returns the index of what it adds; the caller keeps to the limits.
    uint32_t add_name(std::string_view text, uint32_t parent = 0);
    uint32_t add_device(const ttmem_device_info& info);
    uint8_t open_set(const DeviceSet& set);
    uint16_t add_core_set(const uint16_t (&rows)[16]);

    // From now on slots below `count` may be used.
    void use_slots(uint32_t count);

    // Makes a free slot live, at the time in `a`.
    SlotRef allocate(uint32_t slot, const Allocation& a) { return events_.allocate(slot, a); }
    // Frees a slot that is live.
    void free(uint32_t slot, uint64_t ticks);

    // A word of a slot that is live (kAddressWord ...). The thread that writes may read what it wrote.
    uint64_t word_of(uint32_t slot, size_t word) const {
        return events_.ledger[slot].word[word].load(std::memory_order_relaxed);
    }

    void count(Inexact what);
    // Where the next failure of that type will be.
    uint32_t next_failure(FailureType type) const;
    void add_failure(const Failure& failure);

    Header& header() { return header_; }
    template <class T>
    T* region(RegionId id) const {
        return reinterpret_cast<T*>(memory_ + header_.region[static_cast<uint32_t>(id)].offset);
    }

private:
    unsigned char* memory_;
    Header& header_;
    BasicEventWriter<OneWriterTraits> events_;
};

}  // namespace ttmem::segment
