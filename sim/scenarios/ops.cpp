// SPDX-License-Identifier: Apache-2.0
#include "sim/scenarios/ops.hpp"

#include <array>
#include <functional>
#include <tt-metalium/host_api.hpp>
#include <tt-metalium/program_cache.hpp>
#include <utility>

namespace ttmem::sim::ops {

using namespace tt::tt_metal;
using namespace tt::tt_metal::distributed;
namespace cache = tt::tt_metal::program_cache::detail;

Scope::Scope(std::string_view name) { GraphTracker::instance().track_function_start(name); }

Scope::~Scope() { GraphTracker::instance().track_function_end(); }

Tensor empty(MeshDevice& device, uint64_t bytes, BufferType type) {
    DeviceLocalBufferConfig local;
    local.page_size = kTilePage;
    local.buffer_type = type;
    return MeshBuffer::create(ReplicatedBufferConfig{.size = bytes}, local, &device);
}

Tensor sharded_over_mesh(MeshDevice& device, uint64_t bytes_per_device) {
    constexpr size_t kWidth = 512;
    constexpr size_t kDatum = 2;
    const size_t rows = bytes_per_device / kDatum / kWidth;
    DeviceLocalBufferConfig local;
    local.page_size = kTilePage;
    distributed::ShardedBufferConfig config;
    config.global_size = bytes_per_device * device.num_devices();
    config.global_buffer_shape = {rows * device.num_devices(), kWidth};
    config.shard_shape = {rows, kWidth};
    return MeshBuffer::create(config, local, &device);
}

Tensor height_sharded(MeshDevice& device, uint32_t cores, uint32_t pages_per_core, uint32_t page_size,
                      BufferType type) {
    const uint32_t width = page_size / 2;
    DeviceLocalBufferConfig local;
    local.page_size = page_size;
    local.buffer_type = type;
    local.sharding_args =
        BufferShardingArgs(ShardSpecBuffer(CoreRangeSet(CoreRange(CoreCoord(0, 0), CoreCoord(cores - 1, 0))),
                                           {pages_per_core, width}, ShardOrientation::ROW_MAJOR, {1, width},
                                           {cores * pages_per_core, 1}),
                           TensorMemoryLayout::HEIGHT_SHARDED);
    return MeshBuffer::create(ReplicatedBufferConfig{.size = DeviceAddr{cores} * pages_per_core * page_size},
                              local, &device);
}

Program build(const ProgramSpec& spec) {
    constexpr std::array kRoles = {"reader", "writer", "compute"};
    Program program = CreateProgram();
    for (size_t index = 0; index < spec.circular_buffers.size(); ++index) {
        const auto cb = static_cast<uint8_t>(index);
        CircularBufferConfig config(spec.circular_buffers[index], {{cb, tt::DataFormat::Float16_b}});
        config.set_page_size(cb, kTilePage);
        CreateCircularBuffer(program, spec.cores, config);
    }
    for (size_t index = 0; index < spec.kernels.size(); ++index) {
        const std::map<std::string, std::string> defines{
            {"SIM_TEXT_BYTES", std::to_string(spec.kernels[index])}};
        const std::string file = "ops/" + spec.name + "/" + kRoles.at(index) + ".cpp";
        if (index == 2) {
            CreateKernel(program, file, spec.cores, ComputeConfig{.defines = defines});
        } else {
            CreateKernel(program, file, spec.cores, DataMovementConfig{.defines = defines});
        }
    }
    return program;
}

void run_program(MeshDevice& device, const ProgramSpec& spec) {
    struct NothingShared {};
    using Cached = cache::CachedMeshWorkload<NothingShared>;

    std::string canonical = spec.name + spec.cores.str();
    for (const uint32_t size : spec.circular_buffers) {
        canonical += "/" + std::to_string(size);
    }
    const cache::ProgramCacheKey key{.hash = std::hash<std::string>{}(canonical), .canonical = canonical};
    cache::ProgramCache& programs = device.get_program_cache();
    if (!programs.contains(key)) {
        MeshWorkload workload;
        workload.add_program(MeshCoordinateRange(device.shape()), build(spec));
        Program& program = workload.get_programs().begin()->second;
        GraphTracker::instance().track_program(&program, &device);
        if (GraphTracker::instance().hook_program(&program)) {
            return;
        }
        programs.insert(key, cache::CachedProgramFactory(Cached(std::move(workload), NothingShared{}), 0));
    }
    EnqueueMeshWorkload(device.mesh_command_queue(), programs.get(key).cached_program.get<Cached>().workload,
                        false);
}

Tensor add(MeshDevice& device, const Tensor& a, const Tensor& /*b*/) {
    const Scope scope("ttnn::add");
    Tensor output = empty(device, a->device_local_size());
    const CoreCoord grid = device.compute_with_storage_grid_size();
    run_program(device, {.name = "add",
                         .cores = CoreRange(CoreCoord(0, 0), CoreCoord(grid.x - 1, grid.y - 1)),
                         .circular_buffers = {4096, 4096, 4096},
                         .kernels = {3072, 3072, 6144}});
    return output;
}

Tensor matmul(MeshDevice& device, const Tensor& /*a*/, const Tensor& /*b*/, uint64_t bytes) {
    const Scope scope("ttnn::matmul");
    Tensor output = empty(device, bytes);
    run_program(device, {.name = "matmul",
                         .cores = CoreRange(CoreCoord(0, 0), CoreCoord(7, 6)),
                         .circular_buffers = {4096, 4096, 2048},
                         .kernels = {6144, 6144, 12288}});
    return output;
}

}  // namespace ttmem::sim::ops
