// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include <tt-metalium/mesh_buffer.hpp>
#include <tt-metalium/mesh_device.hpp>
#include <tt-metalium/program_cache.hpp>

#include "sim/geometry.hpp"
#include "sim/metal/allocator_impl.hpp"
#include "sim/metal/device_impl.hpp"
#include "sim/metal/mesh_command_queue_impl.hpp"
#include "sim/metal/system_resources.hpp"
#include "sim/metal/thread_pool.hpp"

namespace tt::tt_metal::distributed {

struct MeshRegions {
    size_t l1_small = 0;
    size_t trace = 0;
};

// A mesh's own parts: allocator, program cache, traces. It may share its chips with other meshes.
class MeshDeviceImpl {
public:
    // A mesh that opens its chips, and closes them when it closes.
    static std::shared_ptr<MeshDevice> open(const MeshShape& shape, const std::vector<int>& chips,
                                            const MeshRegions& regions, size_t num_command_queues);
    // A part of an open mesh.
    static std::shared_ptr<MeshDevice> open_part(const std::shared_ptr<MeshDevice>& parent,
                                                 const MeshShape& shape, std::vector<IDevice*> devices);

    MeshDeviceImpl(MeshDevice* self, const MeshShape& shape, std::vector<IDevice*> devices,
                   std::shared_ptr<MeshDevice> parent, size_t num_command_queues);
    ~MeshDeviceImpl();

    bool close();
    bool is_open() const { return allocator != nullptr; }
    Device& reference_device() const;

    // The trace's buffer is allocated when the capture ends, because its size is known only then.
    void end_trace(MeshCommandQueueImpl& queue, const MeshTraceId& trace);

    MeshDevice* const self;
    const int id;
    MeshDeviceView view;
    std::shared_ptr<MeshDevice> parent;
    std::vector<std::weak_ptr<MeshDevice>> submeshes;
    std::unique_ptr<AllocatorImpl> allocator;  // null while the mesh is closed
    std::unique_ptr<SystemBuffers> system_buffers;
    program_cache::detail::ProgramCache program_cache;
    std::vector<std::unique_ptr<MeshCommandQueueImpl>> queues;
    ThreadPool thread_pool;

    std::mutex trace_mutex;
    uint32_t next_trace = 0;
    std::map<uint32_t, std::shared_ptr<MeshBuffer>> traces;
    uint32_t trace_buffers_size = 0;
};

}  // namespace tt::tt_metal::distributed
