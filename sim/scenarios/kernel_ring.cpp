// SPDX-License-Identifier: Apache-2.0
//
// A program whose kernels nearly fill the kernel ring of a core, and one whose kernels do not fit.
#include <fmt/format.h>

#include <stdexcept>
#include <tt-metalium/host_api.hpp>

#include "sim/scenarios/ops.hpp"
#include "sim/scenarios/run.hpp"
#include "sim/scenarios/scenario.hpp"

namespace ttmem::sim {

using namespace tt::tt_metal;
using namespace tt::tt_metal::distributed;

void run_kernel_ring(Run& run) {
    const auto mesh = run.open_mesh();
    run.step("open");
    const auto run_with = [&](std::vector<uint32_t> kernels) {
        const ops::Scope scope("ttnn::conv2d");
        auto workload = std::make_unique<MeshWorkload>();
        workload->add_program(MeshCoordinateRange(mesh->shape()),
                              ops::build({.name = "conv2d",
                                          .cores = CoreRange(CoreCoord(0, 0), CoreCoord(3, 3)),
                                          .circular_buffers = {65'536, 65'536},
                                          .kernels = std::move(kernels)}));
        EnqueueMeshWorkload(mesh->mesh_command_queue(), *workload, false);
        return workload;
    };
    auto workload = run_with({16'384, 16'384, 36'864});
    run.step("fits");
    bool is_refused = false;
    try {
        (void)run_with({16'384, 16'384, 41'472});
    } catch (const std::runtime_error& error) {
        is_refused = true;
        fmt::print("refused: {}\n", error.what());
    }
    if (!is_refused) {
        throw std::logic_error("kernels that are larger than their ring were loaded");
    }
    run.step("too large");
    workload.reset();
    mesh->close();
    run.step("close");
}

}  // namespace ttmem::sim
