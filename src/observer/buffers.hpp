// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which record belongs to which live buffer. A buffer is known by where its object lies: addresses on a device are no key,
// since three allocators may give away the same one. Any thread.

#include <ttmem/ttmem.h>

#include <array>
#include <mutex>
#include <optional>
#include <unordered_map>

namespace ttmem::observer {

struct BufferRecord {
    ttmem_handle handle = 0;
    ttmem_set set = 0;
    std::uint32_t kind = 0;
    std::uint64_t address = 0;
    const void* allocator = nullptr;  // null: none has given anything for it
};

class Buffers {
public:
    // The record of one that died unseen at the same place comes back.
    std::optional<BufferRecord> put(const void* buffer, const BufferRecord& record);
    std::optional<BufferRecord> take(const void* buffer);

    // The set is closed: its records are gone already.
    void forget_set(ttmem_set set);

    // Frees all that an allocator has given away.
    void free_all_of(const void* allocator);

    // The one at this address in the set; 0 where there is none.
    ttmem_handle handle_at(ttmem_set set, std::uint32_t kind, std::uint64_t address) const;

private:
    struct alignas(64) Shard {
        mutable std::mutex mutex;
        std::unordered_map<const void*, BufferRecord> records;
    };

    Shard& shard_of(const void* buffer) {
        return shards_[(reinterpret_cast<std::uintptr_t>(buffer) * 0x9E3779B97F4A7C15u) >> 58];
    }

    std::array<Shard, 64> shards_;
};

}  // namespace ttmem::observer
