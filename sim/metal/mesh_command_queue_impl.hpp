// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include <tt-metalium/mesh_command_queue.hpp>

namespace tt::tt_metal::distributed {

class MeshCommandQueueImpl final : public MeshCommandQueue {
public:
    MeshCommandQueueImpl(MeshDevice* mesh_device, uint32_t id) : MeshCommandQueue(mesh_device, id) {}

    std::optional<MeshTraceId> trace_id() const override { return trace_; }
    void enqueue_mesh_workload(MeshWorkload& mesh_workload, bool blocking) override;
    void enqueue_write_mesh_buffer(const std::shared_ptr<MeshBuffer>& buffer, const void* host_data,
                                   bool blocking) override;
    void enqueue_read_mesh_buffer(void* host_data, const std::shared_ptr<MeshBuffer>& buffer,
                                  bool blocking) override;
    void finish(ttsl::Span<const SubDeviceId> sub_device_ids = {}) override;

    void begin_capture(const MeshTraceId& trace);
    // The bytes of the commands that were captured.
    uint64_t end_capture();

private:
    std::optional<MeshTraceId> trace_;
    uint64_t captured_bytes_ = 0;
};

}  // namespace tt::tt_metal::distributed
