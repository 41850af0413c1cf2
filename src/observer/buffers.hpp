// SPDX-License-Identifier: Apache-2.0
#pragma once

// Maps live buffers to their records. The key is the address of the buffer object: device addresses are not unique,
// because three allocators may hand out the same one. Thread-safe.

#include <ttmem/ttmem.h>

#include <array>
#include <boost/unordered/unordered_flat_map.hpp>
#include <mutex>
#include <optional>

namespace ttmem::observer {

struct BufferRecord {
    ttmem_handle handle = 0;
    ttmem_set set = 0;
    uint32_t kind = 0;
    uint64_t address = 0;
    uint64_t requested = 0;
    const void* allocator = nullptr;  // null: it has no memory
};

class Buffers {
public:
    // Returns the record of an earlier buffer at the same place whose end was not seen.
    std::optional<BufferRecord> put(const void* buffer, const BufferRecord& record);
    std::optional<BufferRecord> take(const void* buffer);

    // The set was closed, which removed its records already.
    void forget_set(ttmem_set set);
    void forget_all();

    // Frees everything from this allocator.
    void free_all_of(const void* allocator);

    // The bytes that were requested for the live buffers of one kind in the set.
    uint64_t requested_in(ttmem_set set, uint32_t kind) const;

    // The buffer at this address in the set; 0 if there is none.
    ttmem_handle handle_at(ttmem_set set, uint32_t kind, uint64_t address) const;

private:
    struct alignas(64) Shard {
        mutable std::mutex mutex;
        boost::unordered_flat_map<const void*, BufferRecord> records;
    };

    Shard& shard_of(const void* buffer) {
        return shards_[(reinterpret_cast<std::uintptr_t>(buffer) * 0x9E3779B97F4A7C15u) >> 58];
    }

    std::array<Shard, 64> shards_;
};

}  // namespace ttmem::observer
