// SPDX-License-Identifier: Apache-2.0
#include "impl/stand_in.hpp"

namespace tt::tt_metal::distributed {

MeshDevice::MeshDevice(int chips) : impl_(std::make_unique<MeshDeviceImpl>()) {
    static int meshes = 0;
    impl_->id = meshes++;
    for (int chip = 0; chip < chips; ++chip) {
        impl_->chips.push_back(std::make_unique<Device>(chip));
        impl_->chips.back()->initialize(1, 0, 0, 0, {}, false);
        impl_->view.chips.push_back(impl_->chips.back().get());
    }
    impl_->allocator = std::make_unique<AllocatorImpl>(label(), 4);
    impl_->sub_device = std::make_unique<AllocatorImpl>(label(), 2);
}

MeshDevice::~MeshDevice() { impl_->close_impl(this); }
bool MeshDevice::close() { return impl_->close_impl(this); }

bool MeshDeviceImpl::close_impl(MeshDevice* pimpl_wrapper) { (void)pimpl_wrapper; if (!allocator) { return false; }
    allocator.reset();
    sub_device.reset();
    for (const auto& chip : chips) {
        chip->close();
    }
    return true;
}

}  // namespace tt::tt_metal::distributed
