// SPDX-License-Identifier: Apache-2.0
//
// An L1 tensor reaches so far down that a program's circular buffers overlap it. The program is refused. After the tensor
// is freed, the same program runs.
#include <fmt/format.h>

#include <stdexcept>
#include <tt-metalium/host_api.hpp>

#include "sim/scenarios/ops.hpp"
#include "sim/scenarios/run.hpp"
#include "sim/scenarios/scenario.hpp"

namespace ttmem::sim {

using namespace tt::tt_metal;
using namespace tt::tt_metal::distributed;

void run_cb_clash(Run& run) {
    const auto mesh = run.open_mesh();
    run.step("open");
    const PoolGeometry l1 = memory_geometry(run.board(), {})[PoolKind::l1];
    const uint64_t tensor_pages = l1.size / 2 / ops::kTilePage * l1.banks;
    ops::Tensor tensor;
    {
        const ops::Scope scope("decoder.0/activation");
        tensor = ops::empty(*mesh, tensor_pages * ops::kTilePage, BufferType::L1);
    }
    run.step("l1 tensor");

    const auto half = static_cast<uint32_t>(l1.size * 3 / 10 / ops::kTilePage * ops::kTilePage);
    std::optional<MeshWorkload> workload;
    workload.emplace();
    workload->add_program(MeshCoordinateRange(mesh->shape()),
                          ops::build({.name = "conv2d",
                                      .cores = CoreRange(CoreCoord(0, 0), CoreCoord(3, 3)),
                                      .circular_buffers = {half, half},
                                      .kernels = {2048, 2048, 8192}}));
    bool refused = false;
    try {
        const ops::Scope scope("ttnn::conv2d");
        EnqueueMeshWorkload(mesh->mesh_command_queue(), *workload, false);
    } catch (const std::runtime_error& error) {
        refused = true;
        fmt::print("refused: {}\n", error.what());
    }
    if (!refused) {
        throw std::logic_error("circular buffers and an L1 tensor share memory");
    }
    run.step("clash");
    tensor.reset();
    run.step("l1 tensor freed");
    {
        const ops::Scope scope("ttnn::conv2d");
        EnqueueMeshWorkload(mesh->mesh_command_queue(), *workload, false);
    }
    run.step("runs");
    workload.reset();
    run.step("program gone");
    mesh->close();
    run.step("close");
}

}  // namespace ttmem::sim
