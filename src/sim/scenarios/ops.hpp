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

// A handful of operations in the manner of ttnn, on tt-metal's public API alone: each has a name that its allocations
// carry, makes its output, and runs a program that the device's cache keeps.
namespace ttmem::sim::ops {

using tt::tt_metal::BufferType;
using tt::tt_metal::CoreRange;
using tt::tt_metal::distributed::MeshBuffer;
using tt::tt_metal::distributed::MeshDevice;

using Tensor = std::shared_ptr<MeshBuffer>;

inline constexpr std::uint32_t kTilePage = 2048;  // a tile of bfloat16

// While it lives, what this thread allocates has this name.
class Scope {
public:
    explicit Scope(std::string_view name);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
};

// As many bytes on each device, in whole tiles.
[[nodiscard]] Tensor empty(MeshDevice& device, std::uint64_t bytes, BufferType type = BufferType::DRAM);

// The same, as one tensor that the devices share out among themselves.
[[nodiscard]] Tensor sharded_over_mesh(MeshDevice& device, std::uint64_t bytes_per_device);

// On the first cores of row 0, the same number of pages on each.
[[nodiscard]] Tensor height_sharded(MeshDevice& device, std::uint32_t cores, std::uint32_t pages_per_core,
                                    std::uint32_t page_size, BufferType type = BufferType::L1);

// What a program consists of. The sizes of its kernels are their text.
struct ProgramSpec {
    std::string name;
    CoreRange cores;
    std::vector<std::uint32_t> circular_buffers;  // bytes on each core
    std::vector<std::uint32_t> kernels;           // reader, writer, then compute
};

[[nodiscard]] tt::tt_metal::Program build(const ProgramSpec& spec);

// From the program cache of the device, or built and put there. A capture that takes programs over ends it here.
void run_program(MeshDevice& device, const ProgramSpec& spec);

// The two operations of the mesh test, with circular buffers and kernels of known size.
[[nodiscard]] Tensor add(MeshDevice& device, const Tensor& a, const Tensor& b);
[[nodiscard]] Tensor matmul(MeshDevice& device, const Tensor& a, const Tensor& b, std::uint64_t bytes);

}  // namespace ttmem::sim::ops
