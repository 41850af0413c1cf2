// SPDX-License-Identifier: Apache-2.0
#include "sim/metal/allocator_impl.hpp"

#include <tt-metalium/buffer.hpp>
#include <tt-metalium/graph_tracking.hpp>
#include <tt_stl/assert.hpp>
#include <utility>

namespace tt::tt_metal {

using ttmem::allocator::PoolKind;

PoolKind pool_of(BufferType buffer_type) {
    switch (buffer_type) {
        case BufferType::DRAM:
            return PoolKind::dram;
        case BufferType::L1:
            return PoolKind::l1;
        case BufferType::L1_SMALL:
            return PoolKind::l1_small;
        case BufferType::TRACE:
            return PoolKind::trace;
        case BufferType::SYSTEM_MEMORY:
            break;
    }
    TT_THROW("buffers in system memory come from no allocator of a device");
}

namespace {

// The buffer counts its pages in 32 bits, too few for some sizes that must be refused.
uint64_t pages_of(const Buffer& buffer) {
    if (is_sharded(buffer.buffer_layout())) {
        return buffer.num_dev_pages();
    }
    return buffer.page_size() == 0 ? 0 : buffer.size() / buffer.page_size();
}

}  // namespace

ttmem::allocator::BufferRequest request_of(const Buffer& buffer) {
    return {.pool = pool_of(buffer.buffer_type()),
            .pages = pages_of(buffer),
            .page_size = buffer.page_size(),
            .shard_cores = buffer.num_cores().value_or(0),
            .bottom_up = buffer.bottom_up()};
}

AllocatorImpl::AllocatorImpl(const ttmem::allocator::MemoryGeometry& memory, const IDevice* owner)
    : memory_(memory), owner_(owner), view_(std::make_unique<Allocator>(this)), allocator_(memory) {}

AllocatorImpl::~AllocatorImpl() {
    deallocate_buffers();
    for (Buffer* buffer : std::exchange(attached_buffers_, {})) {
        abandon(buffer);
    }
}

DeviceAddr AllocatorImpl::allocate_buffer(Buffer* buffer) {
    const ttmem::allocator::BufferRequest request = request_of(*buffer);
    TT_FATAL(ttmem::allocator::has_cores(memory_[request.pool], request),
             "Expected number of shards {} to be less than or equal to total number of L1 banks {} in "
             "compute cores",
             request.shard_cores, memory_[request.pool].banks);
    std::unique_lock lock(mutex_);
    const auto address = allocator_.allocate(request);
    if (!address) {
        lock.unlock();
        const ttmem::allocator::OutOfMemory& reason = address.error();
        GraphTracker::instance().track_out_of_memory(buffer, reason.needed.reserved_per_bank,
                                                     reason.bank.free, reason.bank.largest_free);
        TT_THROW("{}", reason.message());
    }
    allocated_buffers_.insert(buffer);
    requested_[static_cast<size_t>(request.pool)] += buffer->size();
    return *address;
}

void AllocatorImpl::deallocate_buffer(Buffer* buffer) {
    const std::lock_guard lock(mutex_);
    if (allocated_buffers_.erase(buffer) == 0) {
        return;
    }
    const PoolKind pool = pool_of(buffer->buffer_type());
    requested_[static_cast<size_t>(pool)] -= buffer->size();
    allocator_.release(pool, buffer->address_);
}

void AllocatorImpl::deallocate_buffers() {
    const std::lock_guard lock(mutex_);
    for (Buffer* buffer : std::exchange(allocated_buffers_, {})) {
        GraphTracker::instance().track_bulk_deallocate(buffer);
        abandon(buffer);
    }
    allocator_.release_all();
    requested_ = {};
}

void AllocatorImpl::abandon(Buffer* buffer) {
    buffer->allocation_status_ = Buffer::AllocationStatus::DEALLOCATED;
    buffer->allocator_ = nullptr;
    buffer->tracking_handle_ = 0;
}

void AllocatorImpl::attach(Buffer* buffer) {
    const std::lock_guard lock(mutex_);
    attached_buffers_.insert(buffer);
}

void AllocatorImpl::detach(Buffer* buffer) {
    const std::lock_guard lock(mutex_);
    attached_buffers_.erase(buffer);
}

std::unordered_set<Buffer*> AllocatorImpl::get_allocated_buffers() const {
    const std::lock_guard lock(mutex_);
    return allocated_buffers_;
}

Statistics AllocatorImpl::get_statistics(const BufferType& buffer_type) const {
    const std::lock_guard lock(mutex_);
    const ttmem::allocator::PoolStatistics now = allocator_.statistics(pool_of(buffer_type));
    return {.total_allocatable_size_bytes = now.size,
            .total_allocated_bytes = now.allocated,
            .total_free_bytes = now.free,
            .largest_free_block_bytes = now.largest_free};
}

std::vector<ttmem::allocator::BankBlock> AllocatorImpl::blocks(BufferType buffer_type) const {
    const std::lock_guard lock(mutex_);
    return allocator_.blocks(pool_of(buffer_type));
}

MemoryBlockTable AllocatorImpl::get_memory_block_table(const BufferType& buffer_type) const {
    MemoryBlockTable table;
    const auto blocks = this->blocks(buffer_type);
    for (size_t i = 0; i < blocks.size(); ++i) {
        table.push_back({{"blockID", std::to_string(i)},
                         {"address", std::to_string(blocks[i].address)},
                         {"size", std::to_string(blocks[i].size)},
                         {"prevID", i == 0 ? "NULL" : std::to_string(i - 1)},
                         {"nextID", i + 1 == blocks.size() ? "NULL" : std::to_string(i + 1)},
                         {"allocated", blocks[i].allocated ? "yes" : "no"}});
    }
    return table;
}

std::optional<DeviceAddr> AllocatorImpl::lowest_occupied_l1_address() const {
    const std::lock_guard lock(mutex_);
    return allocator_.lowest_occupied_l1();
}

uint64_t AllocatorImpl::tracking_handle_at(BufferType buffer_type, DeviceAddr address) const {
    const std::lock_guard lock(mutex_);
    for (const Buffer* buffer : allocated_buffers_) {
        if (buffer->buffer_type() == buffer_type && buffer->address_ == address) {
            return buffer->tracking_handle_;
        }
    }
    return 0;
}

uint64_t AllocatorImpl::requested_bytes(PoolKind pool) const {
    const std::lock_guard lock(mutex_);
    return requested_[static_cast<size_t>(pool)];
}

}  // namespace tt::tt_metal
