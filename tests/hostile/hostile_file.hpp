// SPDX-License-Identifier: Apache-2.0
#pragma once

// A sealed segment that this process can still write, as a hostile process could: it was mapped before it was sealed.

#include <cstdint>
#include <memory>
#include <vector>

#include "base/descriptor.hpp"
#include "segment/layout.hpp"
#include "segment/reader.hpp"

namespace ttmem::hostile {

class HostileFile {
public:
    // Lays out a valid, empty segment. `size` enlarges the file beyond that; the additional part is sparse.
    explicit HostileFile(const segment::Sizes& sizes, uint64_t size = 0);
    ~HostileFile();
    HostileFile(const HostileFile&) = delete;
    HostileFile& operator=(const HostileFile&) = delete;

    segment::Header& header() { return *reinterpret_cast<segment::Header*>(start_); }
    segment::Region& region(segment::RegionId id) { return header().region[static_cast<uint32_t>(id)]; }
    segment::Word* words() { return reinterpret_cast<segment::Word*>(start_); }
    uint64_t size() const { return size_; }

    // Writes to each page of the range, so that it is data and not a hole.
    void make_data(uint64_t offset, uint64_t length);

    // Sets all usage marks to their maximum.
    void claim_everything();

    base::Expected<segment::Reader> open() const;

    // Memory that the file occupies, in units of 512 bytes.
    int64_t blocks() const;

private:
    base::Descriptor file_;
    unsigned char* start_ = nullptr;
    uint64_t size_ = 0;
};

// Bytes in use on the heap of this process; 0 if a sanitizer has replaced the allocator.
uint64_t heap_in_use();

// Anonymous memory of this process, as the kernel counts it; 0 under a sanitizer, which delays the release of memory.
uint64_t anonymous_memory();

}  // namespace ttmem::hostile
