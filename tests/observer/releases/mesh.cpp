// SPDX-License-Identifier: Apache-2.0
#include "release.hpp"
#include "truth.hpp"

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

void MeshDevice::end_mesh_trace(uint8_t /*queue*/, const MeshTraceId& trace) {
    const uint64_t size = trace.value * uint64_t{4096};
    const auto statistics = memory_->whole->get_statistics(BufferType::TRACE);
    const uint64_t banks = memory_->whole->get_num_banks(BufferType::TRACE);
    // As it was requested: in each bank it was rounded up.
    const uint64_t region = statistics.total_allocatable_size_bytes * banks / 2;
    if (size > region) {
        const std::string free =
            std::to_string(region > live_trace_bytes ? (region - live_trace_bytes) / banks : 0);
        truth::add_failure("no room for kind 4 requested " + std::to_string(size - live_trace_bytes) +
                           " needed " +
                           std::to_string(((size - live_trace_bytes + banks - 1) / banks + 31) / 32 * 32) +
                           " free " + free + " largest " + free);
        throw std::runtime_error("Creating trace buffers of size " + std::to_string(size) +
                                 "B on MeshDevice 1, but only " + std::to_string(region) +
                                 "B is allocated for trace region.");
    }
}

#if defined(MUTATION_IMPL_DEVICE)
namespace {
// In some releases what does the work of a mesh is a device too, of a class of its own.
class MeshDeviceImpl : public Device {
public:
    using Device::Device;
};
}  // namespace

const IDevice* MeshDevice::impl() const {
    static const MeshDeviceImpl impl(id_);
    return &impl;
}
#endif

std::vector<IDevice*> MeshDevice::get_devices() const { return {view_.chips.begin(), view_.chips.end()}; }
size_t MeshDevice::num_rows() const { return 1; }
size_t MeshDevice::num_cols() const { return chips_.size(); }
const MeshDeviceView& MeshDevice::get_view() const { return view_; }

}  // namespace tt::tt_metal::distributed
