// SPDX-License-Identifier: Apache-2.0
#include "observer/buffers.hpp"

namespace ttmem::observer {

std::optional<BufferRecord> Buffers::put(const void* buffer, const BufferRecord& record) {
    Shard& shard = shard_of(buffer);
    const std::lock_guard lock(shard.mutex);
    const auto [place, is_new] = shard.records.try_emplace(buffer, record);
    if (is_new) {
        return std::nullopt;
    }
    const BufferRecord before = place->second;
    place->second = record;
    return before;
}

std::optional<BufferRecord> Buffers::take(const void* buffer) {
    Shard& shard = shard_of(buffer);
    const std::lock_guard lock(shard.mutex);
    const auto found = shard.records.find(buffer);
    if (found == shard.records.end()) {
        return std::nullopt;
    }
    const BufferRecord record = found->second;
    shard.records.erase(found);
    return record;
}

void Buffers::forget_set(ttmem_set set) {
    for (Shard& shard : shards_) {
        const std::lock_guard lock(shard.mutex);
        boost::unordered::erase_if(shard.records, [&](const auto& entry) { return entry.second.set == set; });
    }
}

void Buffers::forget_all() {
    for (Shard& shard : shards_) {
        const std::lock_guard lock(shard.mutex);
        shard.records.clear();
    }
}

void Buffers::free_all_of(const void* allocator) {
    for (Shard& shard : shards_) {
        const std::lock_guard lock(shard.mutex);
        boost::unordered::erase_if(shard.records, [&](const auto& entry) {
            if (entry.second.allocator != allocator) {
                return false;
            }
            ttmem_free(entry.second.handle);
            return true;
        });
    }
}

uint64_t Buffers::requested_in(ttmem_set set, uint32_t kind) const {
    uint64_t sum = 0;
    for (const Shard& shard : shards_) {
        const std::lock_guard lock(shard.mutex);
        for (const auto& [buffer, record] : shard.records) {
            if (record.set == set && record.kind == kind) {
                sum += record.requested;
            }
        }
    }
    return sum;
}

ttmem_handle Buffers::handle_at(ttmem_set set, uint32_t kind, uint64_t address) const {
    for (const Shard& shard : shards_) {
        const std::lock_guard lock(shard.mutex);
        for (const auto& [buffer, record] : shard.records) {
            if (record.set == set && record.kind == kind && record.address == address) {
                return record.handle;
            }
        }
    }
    return 0;
}

}  // namespace ttmem::observer
