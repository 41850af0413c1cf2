// SPDX-License-Identifier: Apache-2.0
#include "release.hpp"

namespace tt::tt_metal::distributed {

std::vector<IDevice*> MeshDeviceView::get_devices(const MeshCoordinateRange& range) const {
    return {chips.begin() + static_cast<std::ptrdiff_t>(range.first),
            chips.begin() + static_cast<std::ptrdiff_t>(range.last) + 1};
}

#if defined(MUTATION_OTHER_DEVICE)
class OtherMesh : public MeshDevice {
public:
    using MeshDevice::MeshDevice;
};
using CreatedMesh = OtherMesh;
#else
using CreatedMesh = MeshDevice;
#endif

std::shared_ptr<MeshDevice> MeshDevice::create(const std::vector<int>& chips) {
    return std::make_shared<CreatedMesh>(chips);
}

MeshDevice::MeshDevice(const std::vector<int>& chips) : memory_(std::make_unique<DeviceMemory>()) {
    static int meshes = 0;
    id_ = meshes++;
    for (const int chip : chips) {
        chips_.push_back(std::make_unique<Device>(chip));
        chips_.back()->initialize(1, 0, 0, 0, {}, false);
        view_.chips.push_back(chips_.back().get());
    }
}

MeshDevice::~MeshDevice() { close(); }

tt::ARCH MeshDevice::arch() const { return chips_.front()->arch(); }
int MeshDevice::id() const { return id_; }
int MeshDevice::build_id() const {
#if defined(MUTATION_FOLDED_ID)
    return id_;  // as id(): a linker may fold the two
#else
    return chips_.front()->build_id();
#endif
}
bool MeshDevice::is_initialized() const { return memory_ != nullptr; }
uint32_t MeshDevice::l1_size_per_core() const { return chips_.front()->l1_size_per_core(); }
CoreCoord MeshDevice::compute_with_storage_grid_size() const {
    return chips_.front()->compute_with_storage_grid_size();
}
const std::unique_ptr<Allocator>& MeshDevice::allocator() const { return memory_->whole; }
const std::unique_ptr<Allocator>& MeshDevice::allocator(SubDeviceId) const { return memory_->part; }
#if HAS_ALLOCATOR_VIEW
const std::unique_ptr<AllocatorImpl>& MeshDevice::allocator_impl() const { return memory_->whole_impl; }
const std::unique_ptr<AllocatorImpl>& MeshDevice::allocator_impl(SubDeviceId) const {
    return memory_->part_impl;
}
#endif
std::optional<uint64_t> MeshDevice::lowest_occupied_compute_l1_address() const {
    return memory_->allocating(false).lowest_l1();
}

bool MeshDevice::close() {
    if (memory_ == nullptr) {
        return false;
    }
    memory_->allocating(false).deallocate_buffers();
    memory_->allocating(true).deallocate_buffers();
    memory_.reset();
    for (const auto& chip : chips_) {
        chip->close();
    }
    return true;
}

std::vector<IDevice*> MeshDevice::get_devices() const { return {view_.chips.begin(), view_.chips.end()}; }
size_t MeshDevice::num_rows() const { return 1; }
size_t MeshDevice::num_cols() const { return chips_.size(); }
const MeshDeviceView& MeshDevice::get_view() const { return view_; }

}  // namespace tt::tt_metal::distributed
