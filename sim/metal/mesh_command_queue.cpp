// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <tt-metalium/distributed.hpp>
#include <tt-metalium/graph_tracking.hpp>
#include <tt_stl/assert.hpp>
#include <utility>

#include "sim/metal/mesh_command_queue_impl.hpp"
#include "sim/metal/mesh_workload_impl.hpp"

namespace tt::tt_metal::distributed {
namespace {

// Made up: the size of the commands that start one program in a trace.
constexpr uint64_t kCommandBytesPerProgram = 4096;

}  // namespace

void EnqueueMeshWorkload(MeshCommandQueue& mesh_cq, MeshWorkload& mesh_workload, bool blocking) {
    mesh_workload.impl().compile(mesh_cq.device());
    mesh_workload.impl().load_binaries(mesh_cq);
    mesh_cq.enqueue_mesh_workload(mesh_workload, blocking);
}

void Synchronize(MeshDevice& /*device*/, ttsl::optional_reference<MeshCommandQueue> /*mesh_cq*/,
                 ttsl::Span<const SubDeviceId> /*sub_device_ids*/) {}

void Finish(MeshCommandQueue& mesh_cq, ttsl::Span<const SubDeviceId> sub_device_ids) {
    mesh_cq.finish(sub_device_ids);
}

void MeshCommandQueueImpl::enqueue_mesh_workload(MeshWorkload& mesh_workload, bool /*blocking*/) {
    mesh_workload.impl().dispatch(device());
    if (trace_) {
        captured_bytes_ += kCommandBytesPerProgram * mesh_workload.get_programs().size();
    }
}

void MeshCommandQueueImpl::enqueue_write_mesh_buffer(const std::shared_ptr<MeshBuffer>& buffer,
                                                     const void* /*host_data*/, bool /*blocking*/) {
    if (GraphTracker::instance().hook_write_to_device(buffer.get())) {
        return;
    }
    TT_FATAL(buffer->is_allocated(), "a buffer that is freed can't be written");
}

void MeshCommandQueueImpl::enqueue_read_mesh_buffer(void* host_data,
                                                    const std::shared_ptr<MeshBuffer>& buffer,
                                                    bool /*blocking*/) {
    if (GraphTracker::instance().hook_read_from_device(buffer.get())) {
        return;
    }
    TT_FATAL(buffer->is_allocated(), "a buffer that is freed can't be read");
    std::memset(host_data, 0, buffer->size());
}

void MeshCommandQueueImpl::finish(ttsl::Span<const SubDeviceId> /*sub_device_ids*/) {}

void MeshCommandQueueImpl::begin_capture(const MeshTraceId& trace) {
    TT_FATAL(!trace_, "trace {} is being captured already", **trace_);
    trace_ = trace;
    captured_bytes_ = 0;
}

uint64_t MeshCommandQueueImpl::end_capture() {
    trace_.reset();
    return std::exchange(captured_bytes_, 0);
}

}  // namespace tt::tt_metal::distributed
