// SPDX-License-Identifier: Apache-2.0
#pragma once

// A sealed segment that this process can still write to, as a hostile one could: it was mapped before it was sealed.

#include <cstdint>
#include <memory>
#include <vector>

#include "base/descriptor.hpp"
#include "segment/layout.hpp"
#include "segment/reader.hpp"

namespace ttmem::hostile {

class HostileFile {
public:
    // Lays out an honest, empty segment; `size` makes the file larger than that, up to where it is sparse.
    explicit HostileFile(const segment::Sizes& sizes, uint64_t size = 0);
    ~HostileFile();
    HostileFile(const HostileFile&) = delete;
    HostileFile& operator=(const HostileFile&) = delete;

    segment::Header& header() { return *reinterpret_cast<segment::Header*>(start_); }
    segment::Region& region(segment::RegionId id) { return header().region[static_cast<uint32_t>(id)]; }
    segment::Word* words() { return reinterpret_cast<segment::Word*>(start_); }
    uint64_t size() const { return size_; }

    // Writes something into a page, so that it is data and no hole.
    void make_data(uint64_t offset, uint64_t length);

    // Marks that claim that everything is in use.
    void claim_everything();

    base::Expected<segment::Reader> open() const;

    // How much memory the file takes, in units of 512 bytes.
    int64_t blocks() const;

private:
    base::Descriptor file_;
    unsigned char* start_ = nullptr;
    uint64_t size_ = 0;
};

// Bytes that this process has in use on its heap; 0 where a sanitizer has replaced it.
uint64_t heap_in_use();

// Memory of this process that is no file's, as the kernel counts it; 0 under a sanitizer, which keeps what was freed.
uint64_t anonymous_memory();

}  // namespace ttmem::hostile
