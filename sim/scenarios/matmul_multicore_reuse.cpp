// SPDX-License-Identifier: Apache-2.0
//
// A matmul of 3072 x 3072 on the whole grid of a mesh: activations in L1, circular buffers on every core, and a second
// run from the program cache that takes nothing new.
#include "sim/scenarios/ops.hpp"
#include "sim/scenarios/run.hpp"
#include "sim/scenarios/scenario.hpp"

namespace ttmem::sim {

using namespace tt::tt_metal;

void run_matmul_multicore_reuse(Run& run) {
    constexpr uint64_t kMatrix = uint64_t{3072} * 3072 * 2;
    const auto mesh = run.open_mesh();
    run.step("open");
    const CoreCoord grid = mesh->compute_with_storage_grid_size();
    const ops::ProgramSpec program{.name = "matmul_multicore_reuse",
                                   .cores = CoreRange(CoreCoord(0, 0), CoreCoord(grid.x - 1, grid.y - 1)),
                                   .circular_buffers = {49'152, 49'152, 147'456, 147'456},
                                   .kernels = {4096, 4096, 16'384}};
    {
        const ops::Scope scope("matmul_multicore_reuse");
        const auto a = ops::empty(*mesh, kMatrix, BufferType::L1);
        const auto b = ops::empty(*mesh, kMatrix);
        run.step("inputs");
        const auto c = ops::empty(*mesh, kMatrix);
        ops::run_program(*mesh, program);
        run.step("first run");
        ops::run_program(*mesh, program);
        run.step("second run");
    }
    run.step("tensors freed");
    mesh->clear_program_cache();
    run.step("clear program cache");
    mesh->close();
    run.step("close");
}

}  // namespace ttmem::sim
