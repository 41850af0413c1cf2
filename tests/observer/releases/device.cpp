// SPDX-License-Identifier: Apache-2.0
#include "release.hpp"
#include "truth.hpp"

namespace tt::tt_metal {

namespace {

constexpr uint32_t kL1BanksOfSubDevice = 2;
constexpr uint32_t kL1Size = 1'499'136;

}  // namespace

#if HAS_ALLOCATOR_VIEW
DeviceMemory::DeviceMemory()
    : whole_impl(std::make_unique<AllocatorImpl>(kL1BanksOfChip)),
      part_impl(std::make_unique<AllocatorImpl>(kL1BanksOfSubDevice)) {
    whole = std::make_unique<Allocator>(whole_impl.get());
    part = std::make_unique<Allocator>(part_impl.get());
}
Allocating& DeviceMemory::allocating(bool on_sub_device) const {
    return on_sub_device ? *part_impl : *whole_impl;
}
#else
DeviceMemory::DeviceMemory()
    : whole(std::make_unique<Allocator>(kL1BanksOfChip)),
      part(std::make_unique<Allocator>(kL1BanksOfSubDevice)) {}
Allocating& DeviceMemory::allocating(bool on_sub_device) const { return on_sub_device ? *part : *whole; }
#endif
DeviceMemory::~DeviceMemory() = default;

Device::~Device() = default;
tt::ARCH Device::arch() const { return tt::ARCH::WORMHOLE_B0; }
uint32_t Device::l1_size_per_core() const { return kL1Size; }
CoreCoord Device::compute_with_storage_grid_size() const { return {2, 2}; }
const std::unique_ptr<Allocator>& Device::allocator() const { return memory_->whole; }
const std::unique_ptr<Allocator>& Device::allocator(SubDeviceId) const { return memory_->part; }
#if HAS_ALLOCATOR_VIEW
const std::unique_ptr<AllocatorImpl>& Device::allocator_impl() const { return memory_->whole_impl; }
const std::unique_ptr<AllocatorImpl>& Device::allocator_impl(SubDeviceId) const { return memory_->part_impl; }
#endif
std::optional<uint64_t> Device::lowest_occupied_compute_l1_address() const {
    return memory_->allocating(false).lowest_l1();
}

bool Device::initialize(uint8_t, size_t, size_t, size_t, ttsl::Span<const uint32_t>, bool) {
    memory_ = std::make_unique<DeviceMemory>();
    truth::add_chip(id_, chip_text(id_));
    return true;
}

bool Device::close() {
    if (memory_ == nullptr) {
        return false;
    }
    memory_->allocating(false).deallocate_buffers();
    memory_->allocating(true).deallocate_buffers();
    memory_.reset();
    return true;
}

}  // namespace tt::tt_metal
