// SPDX-License-Identifier: Apache-2.0
#if defined(STAND_IN_NEVER_DEFINED)
#include <stand_in_never_there>
#endif
#include <algorithm>

#include "impl/stand_in.hpp"
#include "truth.hpp"

#define STAND_IN_OPEN_BRACE {

namespace tt { namespace tt_metal {

namespace {

struct Pool {
    DeviceAddr base;
    DeviceAddr size;
    bool is_top_down;
};

Pool pool_of(BufferType type) {
    switch (type) {
        case BufferType::L1: return {105'664, 1'310'720, true};
        case BufferType::L1_SMALL: return {105'664 + 1'310'720, 65'536, true};
        case BufferType::TRACE: return {1'048'640 + 4'194'304, 131'072, false};
        default: return {1'048'640, 4'194'304, false};
    }
}

DeviceAddr round_up(DeviceAddr value) { return (value + 31) / 32 * 32; }

}  // namespace

AllocatorImpl::AllocatorImpl(std::string owner, uint32_t l1_banks)
    : owner_{std::move(owner)}, l1_banks_(l1_banks), config_{131'072 * 12}, view_(std::make_unique<Allocator>(this)) {}
AllocatorImpl::~AllocatorImpl() { forget_all(); }

DeviceAddr AllocatorImpl::allocate_buffer(Buffer* buffer)
{
    const std::lock_guard lock(mutex_);
    if (!buffer->core_addresses().empty()) {
        buffers_.push_back(buffer);
        return buffer->core_addresses().begin()->second;  // not in the figures of the banks
    }
    const Pool pool = pool_of(buffer->buffer_type());
    const DeviceAddr size = round_up(buffer->aligned_size_per_bank());
    auto& live = live_[buffer->buffer_type()];
    std::optional<DeviceAddr> found;
    DeviceAddr gap = pool.base, free = pool.size, largest = 0;
    const auto consider = [&](DeviceAddr end) {
        largest = std::max(largest, end - gap);
        if (end - gap >= size && (pool.is_top_down || !found)) {
            found = pool.is_top_down ? end - size : gap;
        }
    };
    for (const auto& [address, bytes] : live) {
        consider(address);
        gap = address + bytes;
        free -= bytes;
    }
    consider(pool.base + pool.size);
    if (!found) {
        truth::add_failure("no room for " + std::to_string(buffer->size()) + " needed " + std::to_string(size) + " free " +
                    std::to_string(free) + " largest " + std::to_string(largest));
        throw std::runtime_error("there is no room for a buffer");
    }
    live[*found] = size;
    buffers_.push_back(buffer);
    return *found;
}

void AllocatorImpl::deallocate_buffer(Buffer* buffer) {
    const std::lock_guard lock(mutex_);
    auto& live = live_[buffer->buffer_type()];
    truth::remove(&live[buffer->address()]);
    live.erase(buffer->address());
    std::erase(buffers_, buffer);
}

void AllocatorImpl::forget_all() {
    for (const Buffer* buffer : buffers_) {
        truth::remove(buffer);
    }
    for (const auto& [type, live] : live_) {
        for (const auto& [address, bytes] : live) {
            truth::remove(&bytes);
        }
    }
    buffers_.clear();
    live_.clear();
}

void AllocatorImpl::deallocate_buffers() {
    const std::lock_guard lock(mutex_);
    forget_all();
}

AllocatorState AllocatorImpl::extract_state() const {
    const std::lock_guard lock(mutex_);
    AllocatorState state;
    for (const auto& [type, live] : live_) {
        for (const auto& [address, bytes] : live) {
            state.regions(type).emplace_back(address, address + bytes);
        }
    }
    return state;
}

void AllocatorImpl::override_state(const AllocatorState& state) {
    const std::lock_guard lock(mutex_);
    forget_all();
    for (const auto& [start, end] : state.get_allocated_regions(BufferType::DRAM)) {
        DeviceAddr& size = live_[BufferType::DRAM][start] = end - start;
        if (state.is_of_others) {
            continue;
        }
        const std::string bytes = std::to_string((end - start) * 12);
        truth::add(&size, owner_ + " dram at " + std::to_string(start) + " requested " + bytes + " used " + bytes +
                              " owner 0 name allocator state");
    }
}

uint32_t AllocatorImpl::get_num_banks(const BufferType& type) const {
    return type == BufferType::L1 || type == BufferType::L1_SMALL ? l1_banks_ : 12;
}
uint32_t AllocatorImpl::get_alignment(BufferType type) const {
    return type == BufferType::L1 || type == BufferType::L1_SMALL ? 16 : 32;
}
DeviceAddr AllocatorImpl::get_base_allocator_addr(const HalMemType& type) const {
    return pool_of(type == HalMemType::L1 ? BufferType::L1 : BufferType::DRAM).base;
}

Statistics AllocatorImpl::get_statistics(const BufferType& type) const {
    const std::lock_guard lock(mutex_);
    const Pool pool = pool_of(type);
    Statistics result{pool.size, 0, pool.size, 0};
    DeviceAddr gap = pool.base;
    if (const auto live = live_.find(type); live != live_.end()) {
        for (const auto& [address, bytes] : live->second) {
            result.total_allocated_bytes += bytes;
            result.largest_free_block_bytes = std::max<size_t>(result.largest_free_block_bytes, address - gap);
            gap = address + bytes;
        }
    }
    result.largest_free_block_bytes = std::max<size_t>(result.largest_free_block_bytes, pool.base + pool.size - gap);
    result.total_free_bytes -= result.total_allocated_bytes;
    return result;
}

std::optional<DeviceAddr> AllocatorImpl::lowest_l1() const {
    const std::lock_guard lock(mutex_);
    const auto live = live_.find(BufferType::L1);
    return live == live_.end() || live->second.empty() ? std::nullopt : std::optional(live->second.begin()->first);
}

}}  // namespace tt::tt_metal
