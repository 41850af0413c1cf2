// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <tt-metalium/experimental/fabric/fabric.hpp>
#include <tt-metalium/mesh_device.hpp>
#include <tt_stl/assert.hpp>

#include "sim/metal/mesh_device_impl.hpp"

namespace tt::tt_metal::distributed {

MeshDevice::~MeshDevice() {
    // Through the public function, so that an observer of it sees this close too.
    if (pimpl_ != nullptr) {
        MeshDevice::close();
    }
}

// ---- properties that all members share: the first member answers ----

tt::ARCH MeshDevice::arch() const { return pimpl_->reference_device().arch(); }

int MeshDevice::num_dram_channels() const { return pimpl_->reference_device().num_dram_channels(); }

uint32_t MeshDevice::l1_size_per_core() const { return pimpl_->reference_device().l1_size_per_core(); }

uint32_t MeshDevice::dram_size_per_channel() const {
    return pimpl_->reference_device().dram_size_per_channel();
}

CoreCoord MeshDevice::grid_size() const { return pimpl_->reference_device().grid_size(); }

CoreCoord MeshDevice::logical_grid_size() const { return pimpl_->reference_device().logical_grid_size(); }

CoreCoord MeshDevice::dram_grid_size() const { return pimpl_->reference_device().dram_grid_size(); }

CoreCoord MeshDevice::compute_with_storage_grid_size() const {
    return pimpl_->reference_device().compute_with_storage_grid_size();
}

ChipId MeshDevice::build_id() const { return pimpl_->reference_device().build_id(); }

const std::vector<SubDeviceId>& MeshDevice::get_sub_device_ids() const {
    return pimpl_->reference_device().get_sub_device_ids();
}

uint32_t MeshDevice::num_sub_devices() const { return 1; }

bool MeshDevice::is_mmio_capable() const { return pimpl_->reference_device().is_mmio_capable(); }

// ---- the mesh's own properties ----

int MeshDevice::id() const { return pimpl_->id; }

uint8_t MeshDevice::num_hw_cqs() const { return static_cast<uint8_t>(pimpl_->queues.size()); }

bool MeshDevice::is_initialized() const { return pimpl_ != nullptr && pimpl_->is_open(); }

const std::unique_ptr<AllocatorImpl>& MeshDevice::allocator_impl() const {
    TT_FATAL(pimpl_->is_open(), "mesh {} is closed", pimpl_->id);
    return pimpl_->allocator;
}

const std::unique_ptr<AllocatorImpl>& MeshDevice::allocator_impl(SubDeviceId) const {
    return allocator_impl();
}

const std::unique_ptr<Allocator>& MeshDevice::allocator() const { return allocator_impl()->view(); }

const std::unique_ptr<Allocator>& MeshDevice::allocator(SubDeviceId) const { return allocator(); }

std::optional<DeviceAddr> MeshDevice::lowest_occupied_compute_l1_address() const {
    return allocator_impl()->lowest_occupied_l1_address();
}

uint32_t MeshDevice::get_trace_buffers_size() const { return pimpl_->trace_buffers_size; }

void MeshDevice::set_trace_buffers_size(uint32_t size) { pimpl_->trace_buffers_size = size; }

bool MeshDevice::initialize(uint8_t, size_t, size_t, size_t, ttsl::Span<const uint32_t>, bool) {
    TT_THROW("a mesh is opened with MeshDevice::create");
}

bool MeshDevice::close() { return pimpl_->close(); }

void MeshDevice::enable_program_cache() { pimpl_->program_cache.enable(); }

void MeshDevice::clear_program_cache() { pimpl_->program_cache.clear(); }

void MeshDevice::disable_and_clear_program_cache() {
    pimpl_->program_cache.disable();
    pimpl_->program_cache.clear();
}

program_cache::detail::ProgramCache& MeshDevice::get_program_cache() { return pimpl_->program_cache; }

size_t MeshDevice::num_program_cache_entries() { return pimpl_->program_cache.num_entries(); }

std::shared_ptr<distributed::MeshDevice> MeshDevice::get_mesh_device() { return shared_from_this(); }

// ---- members ----

std::vector<IDevice*> MeshDevice::get_devices() const { return pimpl_->view.get_devices(); }

IDevice* MeshDevice::get_device(ChipId physical_device_id) const {
    return get_device(pimpl_->view.find_device(physical_device_id));
}

IDevice* MeshDevice::get_device(const MeshCoordinate& coord) const { return pimpl_->view.get_device(coord); }

IDevice* MeshDevice::get_device(size_t row_idx, size_t col_idx) const {
    return get_device(MeshCoordinate(static_cast<uint32_t>(row_idx), static_cast<uint32_t>(col_idx)));
}

tt_fabric::FabricNodeId MeshDevice::get_fabric_node_id(const MeshCoordinate& coord) const {
    return tt_fabric::get_fabric_node_id_from_physical_chip_id(get_device(coord)->id());
}

DeviceIds MeshDevice::get_device_ids() const {
    DeviceIds ids;
    for (const IDevice* device : get_devices()) {
        ids.push_back(device->id());
    }
    return ids;
}

size_t MeshDevice::num_devices() const { return pimpl_->view.num_devices(); }

size_t MeshDevice::num_rows() const { return pimpl_->view.num_rows(); }

size_t MeshDevice::num_cols() const { return pimpl_->view.num_cols(); }

const MeshShape& MeshDevice::shape() const { return pimpl_->view.shape(); }

const MeshDeviceView& MeshDevice::get_view() const { return pimpl_->view; }

std::string MeshDevice::to_string() const {
    std::string sides;
    for (size_t dim = 0; dim < shape().dims(); ++dim) {
        sides += fmt::format("{}{}", dim == 0 ? "" : "x", shape()[static_cast<int32_t>(dim)]);
    }
    return fmt::format("MeshDevice({} grid, {} devices)", sides, num_devices());
}

// ---- submeshes ----

bool MeshDevice::is_parent_mesh() const { return pimpl_->parent == nullptr; }

const std::shared_ptr<MeshDevice>& MeshDevice::get_parent_mesh() const { return pimpl_->parent; }

std::vector<std::shared_ptr<MeshDevice>> MeshDevice::get_submeshes() const {
    std::vector<std::shared_ptr<MeshDevice>> alive;
    for (const auto& submesh : pimpl_->submeshes) {
        if (auto mesh = submesh.lock()) {
            alive.push_back(std::move(mesh));
        }
    }
    return alive;
}

// ---- queues and threads ----

MeshCommandQueue& MeshDevice::mesh_command_queue(std::optional<uint8_t> cq_id) const {
    return *pimpl_->queues.at(cq_id.value_or(0));
}

void MeshDevice::enqueue_to_thread_pool(std::function<void()>&& f) {
    pimpl_->thread_pool.enqueue(std::move(f));
}

void MeshDevice::wait_for_thread_pool() { pimpl_->thread_pool.wait(); }

}  // namespace tt::tt_metal::distributed
