// SPDX-License-Identifier: Apache-2.0
#include "impl/stand_in.hpp"

namespace tt::tt_metal {

bool Device::initialize(
    const uint8_t,
    size_t,
    size_t,
    size_t,
    std::span<const uint32_t> /* l1_bank_remap */,
    bool minimal) {
    allocator_ = std::make_unique<AllocatorImpl>(label(), 4);
    sub_device_ = std::make_unique<AllocatorImpl>(label(), 2);
    if (minimal) {
        return true;
    }
    return true;
}

bool Device::close() {
    sub_device_.reset();
    allocator_.reset();
    return true;
}

Device::~Device() = default;

}  // namespace tt::tt_metal
