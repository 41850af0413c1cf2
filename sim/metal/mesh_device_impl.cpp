// SPDX-License-Identifier: Apache-2.0
#include "sim/metal/mesh_device_impl.hpp"

#include <algorithm>
#include <atomic>
#include <tt-metalium/graph_tracking.hpp>
#include <tt_stl/assert.hpp>
#include <utility>

#include "sim/metal/cluster.hpp"

namespace tt::tt_metal::distributed {
namespace {

constexpr size_t kCompileThreads = 2;
constexpr uint64_t kTracePageSize = 1024;

int next_mesh_id() {
    static std::atomic<int> next = 0;
    return next++;
}

}  // namespace

std::shared_ptr<MeshDevice> MeshDeviceImpl::open(const MeshShape& shape, const std::vector<int>& chips,
                                                 const MeshRegions& regions, size_t num_command_queues) {
    TT_FATAL(!chips.empty() && shape.mesh_size() == chips.size(), "a mesh for {} chips can't be made of {}",
             shape.mesh_size(), chips.size());
    // All or none: if a chip cannot be opened, close those that were.
    std::vector<IDevice*> devices;
    try {
        for (const int chip : chips) {
            Device& device = ttmem::sim::Cluster::instance().device(chip);
            device.initialize(static_cast<uint8_t>(num_command_queues), regions.l1_small, regions.trace, 0);
            devices.push_back(&device);
        }
    } catch (...) {
        for (IDevice* device : devices) {
            device->close();
        }
        throw;
    }
    std::shared_ptr<MeshDevice> mesh(new MeshDevice);
    mesh->pimpl_ = std::make_unique<MeshDeviceImpl>(mesh.get(), shape, devices, nullptr, num_command_queues);
    for (IDevice* device : devices) {
        static_cast<Device*>(device)->set_mesh_device(mesh);
    }
    GraphTracker::instance().track_open(mesh.get());
    mesh->pimpl_->system_buffers = std::make_unique<SystemBuffers>(*mesh);
    return mesh;
}

std::shared_ptr<MeshDevice> MeshDeviceImpl::open_part(const std::shared_ptr<MeshDevice>& parent,
                                                      const MeshShape& shape, std::vector<IDevice*> devices) {
    TT_FATAL(parent->is_initialized(), "a mesh that is closed has no parts");
    std::shared_ptr<MeshDevice> mesh(new MeshDevice);
    mesh->pimpl_ = std::make_unique<MeshDeviceImpl>(mesh.get(), shape, std::move(devices), parent,
                                                    parent->pimpl_->queues.size());
    parent->pimpl_->submeshes.push_back(mesh);
    GraphTracker::instance().track_open(mesh.get());
    return mesh;
}

MeshDeviceImpl::MeshDeviceImpl(MeshDevice* self_, const MeshShape& shape, std::vector<IDevice*> devices,
                               std::shared_ptr<MeshDevice> parent_, size_t num_command_queues)
    : self(self_),
      id(next_mesh_id()),
      view(shape, std::move(devices)),
      parent(std::move(parent_)),
      allocator(std::make_unique<AllocatorImpl>(reference_device().memory(), self_)),
      thread_pool(kCompileThreads) {
    for (uint32_t queue = 0; queue < num_command_queues; ++queue) {
        queues.push_back(std::make_unique<MeshCommandQueueImpl>(self, queue));
    }
    for (IDevice* device : view.get_devices()) {
        static_cast<Device*>(device)->add_allocator(allocator.get());
    }
}

MeshDeviceImpl::~MeshDeviceImpl() = default;

Device& MeshDeviceImpl::reference_device() const { return *static_cast<Device*>(view.get_devices().front()); }

bool MeshDeviceImpl::close() {
    if (!is_open()) {
        return false;
    }
    for (const auto& submesh : submeshes) {
        if (const auto open = submesh.lock()) {
            open->close();
        }
    }
    // Whatever is still alive in the mesh ends here without a report. Destroying it later changes nothing.
    GraphTracker::instance().track_close(self);
    for (IDevice* device : view.get_devices()) {
        static_cast<Device*>(device)->remove_allocator(allocator.get());
    }
    allocator->deallocate_buffers();
    traces.clear();
    system_buffers.reset();
    program_cache.clear();
    allocator.reset();
    if (parent == nullptr) {
        for (IDevice* device : view.get_devices()) {
            device->close();
        }
    }
    return true;
}

void MeshDeviceImpl::end_trace(MeshCommandQueueImpl& queue, const MeshTraceId& trace) {
    TT_FATAL(queue.trace_id() == trace, "trace {} is not being captured", *trace);
    const uint64_t captured = queue.end_capture();
    const uint64_t size = std::max(ttmem::allocator::round_up(captured, kTracePageSize), kTracePageSize);
    const bool has_region = allocator->memory()[ttmem::allocator::PoolKind::trace].size != 0;
    DeviceLocalBufferConfig local{.page_size = kTracePageSize,
                                  .buffer_type = has_region ? BufferType::TRACE : BufferType::DRAM};
    if (!has_region) {
        local.bottom_up = false;
    }
    auto buffer = MeshBuffer::create(ReplicatedBufferConfig{.size = size}, local, self);
    const std::lock_guard lock(trace_mutex);
    trace_buffers_size += static_cast<uint32_t>(size);
    traces[*trace] = std::move(buffer);
}

}  // namespace tt::tt_metal::distributed
