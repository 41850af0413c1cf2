// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_set>

#include <tt-metalium/allocator.hpp>
#include <tt-metalium/buffer_types.hpp>
#include <tt-metalium/device.hpp>

#include "allocator/allocator.hpp"

namespace tt::tt_metal {

class Buffer;

// The pool that a buffer comes from. Throws for system memory, which no allocator of a device has.
ttmem::allocator::PoolKind pool_of(BufferType buffer_type);

// What a buffer asks of its allocator.
ttmem::allocator::BufferRequest request_of(const Buffer& buffer);

// The allocator of one device or mesh, and the buffers that live in it. Thread-safe.
class AllocatorImpl {
public:
    AllocatorImpl(const ttmem::allocator::MemoryGeometry& memory, const IDevice* owner);
    virtual ~AllocatorImpl();
    AllocatorImpl(const AllocatorImpl&) = delete;
    AllocatorImpl& operator=(const AllocatorImpl&) = delete;

    // Throws the out-of-memory error if no block is large enough.
    DeviceAddr allocate_buffer(Buffer* buffer);
    void deallocate_buffer(Buffer* buffer);

    // Frees every buffer at once. Each buffer then behaves as if it had been freed individually.
    void deallocate_buffers();

    // A buffer that owns no memory of this allocator but must know when the device closes.
    void attach(Buffer* buffer);
    void detach(Buffer* buffer);

    std::unordered_set<Buffer*> get_allocated_buffers() const;
    Statistics get_statistics(const BufferType& buffer_type) const;
    std::vector<ttmem::allocator::BankBlock> blocks(BufferType buffer_type) const;
    MemoryBlockTable get_memory_block_table(const BufferType& buffer_type) const;
    const ttmem::allocator::MemoryGeometry& memory() const { return memory_; }
    const std::unique_ptr<Allocator>& view() const { return view_; }
    const IDevice* owner() const { return owner_; }

    std::optional<DeviceAddr> lowest_occupied_l1_address() const;
    // The handle of the buffer at that address; 0 if there is none.
    uint64_t tracking_handle_at(BufferType buffer_type, DeviceAddr address) const;
    uint64_t requested_bytes(ttmem::allocator::PoolKind pool) const;

    // GraphTracker's token for this allocator; 0 if it is not recorded.
    uint32_t tracking_set = 0;

private:
    void abandon(Buffer* buffer);

    const ttmem::allocator::MemoryGeometry memory_;
    const IDevice* const owner_;
    std::unique_ptr<Allocator> view_;

    mutable std::mutex mutex_;
    ttmem::allocator::Allocator allocator_;
    std::unordered_set<Buffer*> allocated_buffers_;
    std::unordered_set<Buffer*> attached_buffers_;
    std::array<uint64_t, ttmem::allocator::kPoolCount> requested_{};
};

}  // namespace tt::tt_metal
