// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <tt-metalium/core_coord.hpp>
#include <tt-metalium/distributed.hpp>
#include <tt-metalium/graph_tracking.hpp>

// A few ttnn-like operations that use only tt-metal's public API. Each names its allocations, allocates its output, and
// runs a program from the device's cache.
namespace ttmem::sim::ops {

using tt::tt_metal::BufferType;
using tt::tt_metal::CoreRange;
using tt::tt_metal::distributed::MeshBuffer;
using tt::tt_metal::distributed::MeshDevice;

using Tensor = std::shared_ptr<MeshBuffer>;

inline constexpr uint32_t kTilePage = 2048;  // a tile of bfloat16

// During its lifetime, this thread's allocations have this name.
class Scope {
public:
    explicit Scope(std::string_view name);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
};

// Allocates this many bytes on each device, in whole tiles.
Tensor empty(MeshDevice& device, uint64_t bytes, BufferType type = BufferType::DRAM);

// The same, as one tensor that is sharded over the devices.
Tensor sharded_over_mesh(MeshDevice& device, uint64_t bytes_per_device);

// On the first cores of row 0, the same number of pages on each.
Tensor height_sharded(MeshDevice& device, uint32_t cores, uint32_t pages_per_core, uint32_t page_size,
                      BufferType type = BufferType::L1);

// The parts of a program. Kernel sizes are text sizes.
struct ProgramSpec {
    std::string name;
    CoreRange cores;
    std::vector<uint32_t> circular_buffers;  // bytes on each core
    std::vector<uint32_t> kernels;           // reader, writer, then compute
};

tt::tt_metal::Program build(const ProgramSpec& spec);

// Takes the program from the device's cache, or builds and caches it. Stops here if a capture hooks programs.
void run_program(MeshDevice& device, const ProgramSpec& spec);

// The two operations of the mesh test, with circular buffers and kernels of known size.
Tensor add(MeshDevice& device, const Tensor& a, const Tensor& b);
Tensor matmul(MeshDevice& device, const Tensor& a, const Tensor& b, uint64_t bytes);

}  // namespace ttmem::sim::ops
