// SPDX-License-Identifier: Apache-2.0
#pragma once

// The bytes of a segment, as a reader may touch them. Reading a hole of a sparse file through a map would make the
// kernel fill it, at the reader's cost; so every look asks first whether there is data. What is data stays data (the
// seals forbid to cut or punch the file), so each page is asked about once. Several threads may look at the same time.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/descriptor.hpp"
#include "base/error.hpp"

namespace ttmem::segment {

class Memory {
public:
    // Maps a sealed memfd for reading; refuses what could be cut under the reader, and what is too large or too small.
    static base::Expected<Memory> map(base::Descriptor file);

    // Memory that is simply there: this process's own segment, a test's, a fuzzer's. Must outlive this object.
    static Memory over(const void* start, size_t size);

    Memory(Memory&& other) noexcept;
    Memory& operator=(Memory&& other) noexcept;
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;
    ~Memory();

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
    bool mapped_ = false;
    std::unique_ptr<std::atomic<uint64_t>[]> data_pages_;  // a bit a page: known to hold data
};

}  // namespace ttmem::segment
