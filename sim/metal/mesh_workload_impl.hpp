// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <unordered_map>

#include <tt-metalium/mesh_workload.hpp>

namespace tt::tt_metal::distributed {

class MeshWorkloadImpl {
public:
    void add_program(const MeshCoordinateRange& device_range, Program&& program);

    // Lays out each program on every chip of the mesh. The first time, several programs compile at once on the mesh's threads.
    void compile(MeshDevice* mesh_device);
    void load_binaries(MeshCommandQueue& mesh_cq);

    // Loads the kernels of each program on the chips that it runs on.
    void dispatch(MeshDevice* mesh_device);

    std::unordered_map<MeshCoordinateRange, Program> programs;

private:
    bool compiled_ = false;
    std::shared_ptr<MeshBuffer> kernel_binaries_;
};

}  // namespace tt::tt_metal::distributed
