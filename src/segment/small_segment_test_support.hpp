// SPDX-License-Identifier: Apache-2.0
#pragma once

// A small segment that a test makes by hand and may then damage: any counts, any strides, one of everything in it. The
// client and SegmentWriter have the strides of this version and write valid segments only.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/descriptor.hpp"
#include "segment/layout.hpp"
#include "segment/reader.hpp"

namespace ttmem::segment {

constexpr int kNoSeals = 0;
int all_seals();

// How many entries each region has, and how many bytes each entry has beyond those of this version.
struct Shape {
    std::array<uint32_t, kRegions> count{};
    std::array<uint32_t, kRegions> extra{};
    uint32_t ring_records = 16;
    uint32_t extra_header = 0;
    // Bytes of a region that this version does not know, filled with ones. It comes before all others.
    uint32_t unknown_region = 0;

    Shape();
    uint32_t& count_of(RegionId id) { return count[static_cast<uint32_t>(id)]; }
    uint32_t& extra_of(RegionId id) { return extra[static_cast<uint32_t>(id)]; }
};

class SmallSegment {
public:
    explicit SmallSegment(const Shape& shape = Shape());

    Header& header() { return *reinterpret_cast<Header*>(bytes_.get()); }
    Region& region(RegionId id) { return header().region[static_cast<uint32_t>(id)]; }
    unsigned char* bytes() { return bytes_.get(); }
    size_t size() const { return size_; }

    template <class T>
    T& entry(RegionId id, uint64_t index) {
        return *reinterpret_cast<T*>(bytes_.get() + region(id).offset + index * region(id).stride);
    }
    Tally& tally(uint32_t line, uint32_t set, AllocationKind kind) {
        return (&entry<Tally>(RegionId::tallies, line))[pool_index(set, kind)];
    }

    // One of everything, with counters that agree with the ledger.
    void fill();

    void put_name(uint32_t id, const std::string& text, uint32_t parent);
    void put_set(uint32_t index, uint64_t members, uint64_t closed_ticks = 0);
    void put_allocation(uint32_t slot, const Allocation& allocation,
                        uint64_t generation = 1);  // and counts it
    void put_event(uint32_t line, const Event& event);
    void put_failure(FailureType type, uint64_t number, uint64_t ticks);
    // A card of which `blocks` live allocations are stored, at the generation that follows.
    void put_card(uint64_t number, uint32_t blocks);

    base::Expected<Reader> read() { return Reader::over(bytes(), size()); }

    // The same as a file, with holes where a page is all zero.
    base::Descriptor memfd(int seals = all_seals());

private:
    struct Unmap {
        void operator()(unsigned char* memory) const;
    };
    size_t size_ = 0;
    std::unique_ptr<unsigned char, Unmap> bytes_;
};

// A reader of one that is as it should be.
Reader read(SmallSegment& segment);

// A memfd of `size` bytes that holds `length` bytes at its start, and nothing else.
base::Descriptor make_memfd(const void* bytes, size_t length, uint64_t size, int seals);

}  // namespace ttmem::segment
