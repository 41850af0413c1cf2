// SPDX-License-Identifier: Apache-2.0
#include <tt-metalium/graph_tracking.hpp>

#include "truth.hpp"

namespace tt::tt_metal {

namespace {
const char* kind_name(BufferType type) {
    constexpr const char* kNames[] = {"dram", "l1", "system_memory", "l1_small", "trace"};
    return kNames[static_cast<size_t>(type)];
}
}  // namespace

Buffer::Buffer(IDevice* device, DeviceAddr size, DeviceAddr page_size, BufferType type, AllocatorImpl* allocator)
    : device_(device), size_(size), page_size_(page_size), type_(type), allocator_(allocator) {
    static size_t ids = 100;
    unique_id_ = ids++;
}

std::shared_ptr<Buffer> Buffer::create(IDevice* device, DeviceAddr size, DeviceAddr page_size, BufferType type,
                                       bool on_sub_device, const std::vector<CoreCoord>& own_addresses_on) {
    AllocatorImpl& allocator = on_sub_device ? device->sub_device() : *device->allocator_impl();
    auto buffer = std::make_shared<Buffer>(device, size, page_size, type, &allocator);
    for (const CoreCoord& core : own_addresses_on) {
        buffer->core_addresses_[core] = 7168 + core.x * 512;
    }
    buffer->is_hooked_ = GraphTracker::instance().hooks_allocations;
    if (!buffer->is_hooked_) {
        buffer->address_ = allocator.allocate_buffer(buffer.get());
    }
    buffer->owns_memory_ = true;
    const DeviceAddr banks = own_addresses_on.empty() ? allocator.get_num_banks(type) : own_addresses_on.size();
    const DeviceAddr used = buffer->is_hooked_ ? 0 : (buffer->aligned_size_per_bank() + 31) / 32 * 32 * banks;
    truth::add(buffer.get(), device->label() + " " + kind_name(type) + " at " + std::to_string(buffer->address_) +
                                 " requested " + std::to_string(size) + " used " + std::to_string(used) +
                                 (buffer->is_hooked_ ? " planned" : "") + " owner " +
                                 std::to_string(buffer->unique_id_) + " name " + truth::current_name());
    GraphTracker::instance().track_allocate(buffer.get());
    return buffer;
}

Buffer::~Buffer() {
    if (owns_memory_ && device_->is_initialized()) {
        GraphTracker::instance().track_deallocate(this);
        truth::remove(this);
        if (!is_hooked_) {
            allocator_->deallocate_buffer(this);
        }
    }
}

DeviceAddr Buffer::aligned_page_size() const {
    const DeviceAddr alignment = allocator_->get_alignment(type_);
    return (page_size_ + alignment - 1) / alignment * alignment;
}
DeviceAddr Buffer::aligned_size_per_bank() const {
    const DeviceAddr banks = allocator_->get_num_banks(type_);
    return (size_ / page_size_ + banks - 1) / banks * aligned_page_size();
}

}  // namespace tt::tt_metal
