// SPDX-License-Identifier: Apache-2.0
#include <tt-metalium/buffer.hpp>
#include <tt-metalium/graph_tracking.hpp>
#include <tt_stl/assert.hpp>

#include "allocator/geometry.hpp"
#include "sim/metal/allocator_impl.hpp"

namespace tt::tt_metal {

using ttmem::allocator::divide_up;
using ttmem::allocator::round_up;

std::atomic<size_t> Buffer::next_unique_id = 0;

namespace {

void validate(DeviceAddr size, DeviceAddr page_size, BufferType buffer_type,
              const BufferShardingArgs& sharding_args) {
    TT_FATAL(size == 0 || (page_size != 0 && size % page_size == 0),
             "a buffer of {} B has no whole number of pages of {} B", size, page_size);
    TT_FATAL(!is_sharded(sharding_args.buffer_layout()) || sharding_args.shard_spec().has_value(),
             "a sharded buffer needs to know its shards");
    TT_FATAL(buffer_type != BufferType::L1_SMALL || is_sharded(sharding_args.buffer_layout()),
             "L1_SMALL takes sharded buffers only");
}

bool default_direction(BufferType buffer_type) {
    return buffer_type != BufferType::L1 && buffer_type != BufferType::L1_SMALL;
}

}  // namespace

bool is_sharded(const TensorMemoryLayout& layout) { return layout != TensorMemoryLayout::INTERLEAVED; }

std::array<uint32_t, 2> ShardSpecBuffer::shape_in_pages() const {
    std::array<uint32_t, 2> pages{};
    for (size_t side = 0; side < 2; ++side) {
        TT_FATAL(page_shape[side] != 0, "a page of a shard has no height or no width");
        pages[side] = static_cast<uint32_t>(divide_up(shape()[side], page_shape[side]));
    }
    return pages;
}

DeviceAddr ShardSpecBuffer::num_pages() const {
    const auto pages = shape_in_pages();
    return DeviceAddr{pages[0]} * pages[1];
}

Buffer::Buffer(IDevice* device, DeviceAddr size, DeviceAddr page_size, BufferType buffer_type,
               const BufferShardingArgs& sharding_args, std::optional<bool> bottom_up,
               std::optional<SubDeviceId> sub_device_id, bool owns_data, Private)
    : device_(device),
      size_(size),
      buffer_type_(buffer_type),
      buffer_layout_(sharding_args.buffer_layout()),
      bottom_up_(bottom_up.value_or(default_direction(buffer_type))),
      sub_device_id_(sub_device_id),
      owns_data_(owns_data),
      allocator_(device->allocator_impl().get()),
      page_size_(page_size),
      alignment_(allocator_->memory()[pool_of(buffer_type)].page_alignment),
      num_banks_(allocator_->memory()[pool_of(buffer_type)].banks),
      shard_spec_(sharding_args.shard_spec()) {
    validate(size, page_size, buffer_type, sharding_args);
}

std::shared_ptr<Buffer> Buffer::create(IDevice* device, DeviceAddr size, DeviceAddr page_size,
                                       BufferType buffer_type, const BufferShardingArgs& sharding_args,
                                       std::optional<bool> bottom_up,
                                       std::optional<SubDeviceId> sub_device_id) {
    auto buffer = std::make_shared<Buffer>(device, size, page_size, buffer_type, sharding_args, bottom_up,
                                           sub_device_id, /*owns_data=*/true, Private());
    buffer->unique_id_ = next_unique_id++;
    if (size == 0) {
        // Nothing is allocated, so there is nothing to report.
        buffer->allocation_status_ = AllocationStatus::ALLOCATED;
        return buffer;
    }
    buffer->allocate_impl();
    return buffer;
}

std::shared_ptr<Buffer> Buffer::create(IDevice* device, DeviceAddr address, DeviceAddr size,
                                       DeviceAddr page_size, BufferType buffer_type,
                                       const BufferShardingArgs& sharding_args, std::optional<bool> bottom_up,
                                       std::optional<SubDeviceId> sub_device_id) {
    return create_view(device, address, next_unique_id++, size, page_size, buffer_type, sharding_args,
                       bottom_up, sub_device_id);
}

std::shared_ptr<Buffer> Buffer::create_view(IDevice* device, DeviceAddr address, size_t unique_id,
                                            DeviceAddr size, DeviceAddr page_size, BufferType buffer_type,
                                            const BufferShardingArgs& sharding_args,
                                            std::optional<bool> bottom_up,
                                            std::optional<SubDeviceId> sub_device_id) {
    auto buffer = std::make_shared<Buffer>(device, size, page_size, buffer_type, sharding_args, bottom_up,
                                           sub_device_id, /*owns_data=*/false, Private());
    buffer->unique_id_ = unique_id;
    buffer->address_ = address;
    buffer->allocation_status_ = AllocationStatus::ALLOCATED;
    if (size != 0) {
        buffer->allocator_->attach(buffer.get());
        GraphTracker::instance().track_view(buffer.get());
    }
    return buffer;
}

std::shared_ptr<Buffer> Buffer::create_member(IDevice* device, DeviceAddr address, DeviceAddr size,
                                              DeviceAddr page_size, BufferType buffer_type,
                                              const BufferShardingArgs& sharding_args,
                                              std::optional<bool> bottom_up) {
    auto buffer = std::make_shared<Buffer>(device, size, page_size, buffer_type, sharding_args, bottom_up,
                                           std::nullopt, /*owns_data=*/false, Private());
    buffer->unique_id_ = next_unique_id++;
    buffer->address_ = address;
    buffer->allocation_status_ = AllocationStatus::ALLOCATED;
    buffer->allocator_ = nullptr;  // it never uses its allocator, and may outlive it
    return buffer;
}

std::shared_ptr<Buffer> Buffer::view(const BufferRegion& region) {
    TT_FATAL(region.offset + region.size <= size_ && region.offset % page_size_ == 0,
             "a region of {} B from {} is no part of a buffer of {} B", region.size, region.offset, size_);
    if (region.offset == 0 && region.size == size_) {
        return shared_from_this();
    }
    auto part = create(device_, address_, region.size, page_size_, buffer_type_,
                       BufferShardingArgs(shard_spec_, buffer_layout_), bottom_up_, sub_device_id_);
    part->root_buffer_ = root_buffer();
    part->root_buffer_offset_ = root_buffer_offset_ + region.offset;
    return part;
}

void Buffer::allocate_impl() {
    if (GraphTracker::instance().hook_allocate(this)) {
        hooked_allocation_ = true;
        allocator_->attach(this);
    } else {
        address_ = allocator_->allocate_buffer(this);
    }
    allocation_status_ = AllocationStatus::ALLOCATED;
    GraphTracker::instance().track_allocate(this);
}

void Buffer::deallocate() {
    if (owns_data_) {
        deallocate_impl();
    } else {
        mark_as_deallocated();
    }
}

void Buffer::deallocate_impl() {
    if (allocation_status_ != AllocationStatus::ALLOCATED) {
        return;
    }
    if (allocator_ != nullptr && size_ != 0) {
        GraphTracker::instance().track_deallocate(this);
        const bool taken_over = GraphTracker::instance().hook_deallocate(this);
        if (hooked_allocation_) {
            allocator_->detach(this);
        } else if (!taken_over) {
            allocator_->deallocate_buffer(this);
        }
    }
    allocation_status_ = AllocationStatus::DEALLOCATED;
}

void Buffer::mark_as_deallocated() {
    if (allocation_status_ == AllocationStatus::ALLOCATED && !owns_data_ && allocator_ != nullptr &&
        size_ != 0) {
        GraphTracker::instance().track_view_end(this);
        allocator_->detach(this);
    }
    allocation_status_ = AllocationStatus::DEALLOCATED;
}

Buffer::~Buffer() {
    if (allocation_status_ != AllocationStatus::DEALLOCATED) {
        deallocate();
    }
}

Allocator* Buffer::allocator() const {
    return allocator_ == nullptr ? device_->allocator().get() : allocator_->view().get();
}

bool Buffer::is_allocated() const { return allocation_status_ == AllocationStatus::ALLOCATED; }

uint32_t Buffer::address() const {
    TT_FATAL(allocation_status_ != AllocationStatus::ALLOCATION_REQUESTED,
             "a buffer without memory has no address");
    return static_cast<uint32_t>(address_);
}

DeviceAddr Buffer::page_size() const { return page_size_; }

uint32_t Buffer::num_pages() const { return page_size_ == 0 ? 0 : static_cast<uint32_t>(size_ / page_size_); }

uint32_t Buffer::num_dev_pages() const {
    if (!is_sharded(buffer_layout_)) {
        return num_pages();
    }
    return static_cast<uint32_t>(shard_spec_->num_pages() * shard_spec_->tensor_shard_spec.num_cores());
}

HalMemType Buffer::memory_type() const { return is_l1() ? HalMemType::L1 : HalMemType::DRAM; }

CoreType Buffer::core_type() const { return is_l1() ? CoreType::WORKER : CoreType::DRAM; }

bool Buffer::is_l1() const { return buffer_type_ == BufferType::L1 || buffer_type_ == BufferType::L1_SMALL; }

bool Buffer::is_dram() const { return buffer_type_ == BufferType::DRAM || buffer_type_ == BufferType::TRACE; }

bool Buffer::is_trace() const { return buffer_type_ == BufferType::TRACE; }

uint32_t Buffer::alignment() const { return alignment_; }

DeviceAddr Buffer::aligned_page_size() const { return round_up(page_size_, alignment_); }

DeviceAddr Buffer::aligned_size() const { return num_dev_pages() * aligned_page_size(); }

DeviceAddr Buffer::aligned_size_per_bank() const {
    // It may outlive its allocator, so it knows itself what it needs of the pool's geometry.
    return footprint({.banks = num_banks_, .page_alignment = alignment_}, request_of(*this))
        .aligned_size_per_bank;
}

ShardSpecBuffer Buffer::shard_spec() const {
    TT_FATAL(shard_spec_.has_value(), "an interleaved buffer has no shards");
    return *shard_spec_;
}

std::optional<uint32_t> Buffer::num_cores() const {
    if (!is_sharded(buffer_layout_)) {
        return std::nullopt;
    }
    return shard_spec_->tensor_shard_spec.num_cores();
}

std::shared_ptr<Buffer> Buffer::root_buffer() {
    return root_buffer_ != nullptr ? root_buffer_ : shared_from_this();
}

}  // namespace tt::tt_metal
