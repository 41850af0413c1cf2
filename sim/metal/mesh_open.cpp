// SPDX-License-Identifier: Apache-2.0
//
// Chooses the chips of a mesh.
#include <algorithm>
#include <tt-metalium/mesh_device.hpp>
#include <tt_stl/assert.hpp>
#include <utility>

#include "sim/metal/cluster.hpp"
#include "sim/metal/mesh_device_impl.hpp"

namespace tt::tt_metal::distributed {
namespace {

// A block of the board's own mesh if it fits; for a line in a grid, the first chips in the grid's order.
std::vector<int> chips_for(const MeshShape& shape, const std::optional<MeshCoordinate>& offset) {
    const ttmem::sim::Board& board = ttmem::sim::Cluster::instance().board();
    const std::vector<int> members = board.members;
    TT_FATAL(shape.mesh_size() <= members.size(), "a mesh of {} devices was requested, but board {} has {}",
             shape.mesh_size(), board.name, members.size());
    const uint32_t first_row = offset ? (*offset)[0] : 0;
    const uint32_t first_col = offset ? (*offset)[1] : 0;
    const bool fits = shape.dims() == 2 && first_row + shape[0] <= board.mesh_rows &&
                      first_col + shape[1] <= board.mesh_cols;
    TT_FATAL(fits || !offset, "a mesh of {} devices does not fit on board {} from that place",
             shape.mesh_size(), board.name);
    if (!fits) {
        return {members.begin(), members.begin() + static_cast<ptrdiff_t>(shape.mesh_size())};
    }
    std::vector<int> chips;
    for (uint32_t row = first_row; row < first_row + shape[0]; ++row) {
        for (uint32_t col = first_col; col < first_col + shape[1]; ++col) {
            chips.push_back(members[row * board.mesh_cols + col]);
        }
    }
    return chips;
}

}  // namespace

std::shared_ptr<MeshDevice> MeshDevice::create(const MeshDeviceConfig& config, size_t l1_small_size,
                                               size_t trace_region_size, size_t num_command_queues,
                                               const DispatchCoreConfig&, ttsl::Span<const uint32_t>,
                                               size_t) {
    const ttmem::sim::Board& board = ttmem::sim::Cluster::instance().board();
    const MeshShape shape = config.mesh_shape().value_or(MeshShape(board.mesh_rows, board.mesh_cols));
    const std::vector<int> chips = config.physical_device_ids().empty() ? chips_for(shape, config.offset())
                                                                        : config.physical_device_ids();
    return MeshDeviceImpl::open(shape, chips, {l1_small_size, trace_region_size}, num_command_queues);
}

std::shared_ptr<MeshDevice> MeshDevice::create_unit_mesh(int device_id, size_t l1_small_size,
                                                         size_t trace_region_size, size_t num_command_queues,
                                                         const DispatchCoreConfig&,
                                                         ttsl::Span<const uint32_t>, size_t) {
    return MeshDeviceImpl::open(MeshShape(1, 1), {device_id}, {l1_small_size, trace_region_size},
                                num_command_queues);
}

// One mesh over all chips opens them. Each unit mesh is a submesh that keeps it alive.
std::map<int, std::shared_ptr<MeshDevice>> MeshDevice::create_unit_meshes(
    const std::vector<int>& device_ids, size_t l1_small_size, size_t trace_region_size,
    size_t num_command_queues, const DispatchCoreConfig&, ttsl::Span<const uint32_t>, size_t) {
    const auto all = MeshDeviceImpl::open(MeshShape(1, static_cast<uint32_t>(device_ids.size())), device_ids,
                                          {l1_small_size, trace_region_size}, num_command_queues);
    std::map<int, std::shared_ptr<MeshDevice>> meshes;
    for (IDevice* device : all->get_devices()) {
        meshes[device->id()] = MeshDeviceImpl::open_part(all, MeshShape(1, 1), {device});
    }
    return meshes;
}

std::shared_ptr<MeshDevice> MeshDevice::create_submesh(const MeshShape& submesh_shape,
                                                       const std::optional<MeshCoordinate>& offset) {
    TT_FATAL(submesh_shape.dims() == shape().dims(), "a submesh has the dimensions of its mesh");
    const MeshCoordinate start = offset.value_or(MeshCoordinate::zero_coordinate(shape().dims()));
    MeshCoordinate end = start;
    for (int32_t dim = 0; dim < static_cast<int32_t>(shape().dims()); ++dim) {
        TT_FATAL(submesh_shape[dim] != 0 && start[dim] + submesh_shape[dim] <= shape()[dim],
                 "a submesh of {} from {} does not fit in a mesh of {} in dimension {}", submesh_shape[dim],
                 start[dim], shape()[dim], dim);
        end[dim] = start[dim] + submesh_shape[dim] - 1;
    }
    return MeshDeviceImpl::open_part(shared_from_this(), submesh_shape,
                                     get_view().get_devices(MeshCoordinateRange(start, end)));
}

std::vector<std::shared_ptr<MeshDevice>> MeshDevice::create_submeshes(const MeshShape& submesh_shape) {
    TT_FATAL(shape().dims() == 2 && submesh_shape.dims() == 2 && shape()[0] % submesh_shape[0] == 0 &&
                 shape()[1] % submesh_shape[1] == 0,
             "submeshes must divide their mesh evenly");
    std::vector<std::shared_ptr<MeshDevice>> submeshes;
    for (uint32_t row = 0; row < shape()[0]; row += submesh_shape[0]) {
        for (uint32_t col = 0; col < shape()[1]; col += submesh_shape[1]) {
            submeshes.push_back(create_submesh(submesh_shape, MeshCoordinate(row, col)));
        }
    }
    return submeshes;
}

// ---- traces ----

MeshTraceId MeshDevice::begin_mesh_trace(MeshCommandQueue& cq) {
    MeshTraceId trace;
    {
        const std::lock_guard lock(pimpl_->trace_mutex);
        trace = MeshTraceId{pimpl_->next_trace++};
    }
    begin_mesh_trace(cq, trace);
    return trace;
}

void MeshDevice::begin_mesh_trace(MeshCommandQueue& cq, const MeshTraceId& trace_id) {
    static_cast<MeshCommandQueueImpl&>(cq).begin_capture(trace_id);
}

void MeshDevice::end_mesh_trace(MeshCommandQueue& cq, const MeshTraceId& trace_id) {
    pimpl_->end_trace(static_cast<MeshCommandQueueImpl&>(cq), trace_id);
}

void MeshDevice::replay_mesh_trace(MeshCommandQueue&, const MeshTraceId& trace_id, bool) {
    const std::lock_guard lock(pimpl_->trace_mutex);
    TT_FATAL(pimpl_->traces.contains(*trace_id), "there is no trace {} to replay", *trace_id);
}

void MeshDevice::release_mesh_trace(const MeshTraceId& trace_id) {
    std::shared_ptr<MeshBuffer> released;
    const std::lock_guard lock(pimpl_->trace_mutex);
    if (const auto found = pimpl_->traces.find(*trace_id); found != pimpl_->traces.end()) {
        released = std::move(found->second);
        pimpl_->trace_buffers_size -= static_cast<uint32_t>(released->size());
        pimpl_->traces.erase(found);
    }
}

}  // namespace tt::tt_metal::distributed
