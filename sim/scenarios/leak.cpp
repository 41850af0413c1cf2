// SPDX-License-Identifier: Apache-2.0
//
// A loop over layers in which one of them forgets a buffer each step. The process ends without closing its devices, as
// scripts do, so what was forgotten is still there at the end.
#include <fmt/format.h>

#include "sim/scenarios/ops.hpp"
#include "sim/scenarios/run.hpp"
#include "sim/scenarios/scenario.hpp"

namespace ttmem::sim {

void run_leak(Run& run) {
    constexpr int kSteps = 5;
    constexpr int kLayers = 4;
    constexpr int kForgetful = 2;
    // Reachable until the process ends, and never destroyed.
    static auto* const meshes = new std::vector<std::shared_ptr<ops::MeshDevice>>;
    static auto* const forgotten = new std::vector<ops::Tensor>;

    // A second run continues with the same devices, which the first run did not close.
    if (meshes->empty()) {
        meshes->push_back(run.open_mesh());
    }
    ops::MeshDevice& mesh = *meshes->front();
    run.step("open");
    for (int step = 1; step <= kSteps; ++step) {
        for (int layer = 0; layer < kLayers; ++layer) {
            const ops::Scope scope(fmt::format("decoder.{}", layer));
            const auto input = ops::empty(mesh, 1'048'576);
            const auto output = ops::add(mesh, input, input);
            if (layer == kForgetful) {
                const ops::Scope mask("attention_mask");
                forgotten->push_back(ops::empty(mesh, 262'144));
            }
        }
        run.step(fmt::format("step {}", step));
    }
    mesh.clear_program_cache();
    run.step("end");
}

}  // namespace ttmem::sim
