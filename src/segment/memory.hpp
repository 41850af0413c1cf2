// SPDX-License-Identifier: Apache-2.0
#pragma once

// The bytes of a segment that a reader may touch. Reading a hole of a sparse file through a map would make the kernel
// fill it, at the reader's cost, so every access checks first whether there is data. Data never becomes a hole (the seals
// forbid it), so each page is checked once. Several threads may read at the same time.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/descriptor.hpp"
#include "base/error.hpp"

namespace ttmem::segment {

class Memory {
public:
    // Maps a sealed memfd for reading; refuses a file that could shrink, and one that is too large or too small. A process that
    // has mapped the whole file already shares that mapping, so that its pages count once.
    static base::Expected<Memory> map(base::Descriptor file, std::shared_ptr<const void> mapping = nullptr);

    // Plain memory, for this process's own segment, tests and fuzzers. Must outlive this object.
    static Memory over(const void* start, size_t size);

    Memory(Memory&& other) noexcept;
    Memory& operator=(Memory&& other) noexcept;
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;
    ~Memory() = default;

    uint64_t size() const { return size_; }

    // The start of [offset, offset + length), or null where any of it is a hole (all zero) or beyond the end.
    const unsigned char* at(uint64_t offset, uint64_t length) const;

    // The end of the run of data that starts at `offset`, at most `limit`; `offset` itself where a hole starts there.
    // Then next_data() finds where data goes on.
    uint64_t data_end(uint64_t offset, uint64_t limit) const;
    uint64_t next_data(uint64_t offset, uint64_t limit) const;

    const unsigned char* start() const { return start_; }

    // Pages of it that exist, in bytes.
    uint64_t resident_bytes() const;

private:
    Memory() = default;
    bool is_known_data(uint64_t page) const;
    uint64_t learn_data(uint64_t page, uint64_t end) const;

    base::Descriptor file_;
    const unsigned char* start_ = nullptr;
    uint64_t size_ = 0;
    std::shared_ptr<const void> mapping_;                  // null: plain memory
    std::unique_ptr<std::atomic<uint64_t>[]> data_pages_;  // one bit per page: known to hold data
};

}  // namespace ttmem::segment
