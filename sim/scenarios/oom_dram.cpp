// SPDX-License-Identifier: Apache-2.0
//
// Layers of a model that is too large: the first layer that does not fit is refused.
#include <fmt/format.h>

#include <stdexcept>

#include "sim/scenarios/ops.hpp"
#include "sim/scenarios/run.hpp"
#include "sim/scenarios/scenario.hpp"

namespace ttmem::sim {

void run_oom_dram(Run& run) {
    const auto mesh = run.open_mesh();
    run.step("open");
    const uint64_t layer_size =
        memory_geometry(run.board(), {})[PoolKind::dram].capacity() / 10 / ops::kTilePage * ops::kTilePage;
    std::vector<ops::Tensor> layers;
    try {
        for (int layer = 0; layer < 11; ++layer) {
            const ops::Scope scope(fmt::format("decoder.{}", layer));
            layers.push_back(ops::empty(*mesh, layer_size));
            if (layer % 3 == 2) {
                run.step(fmt::format("layer {}", layer));
            }
        }
        throw std::logic_error("eleven tenths of DRAM were given away");
    } catch (const std::runtime_error& error) {
        fmt::print("refused: {}\n", error.what());
    }
    run.step("out of memory");
    layers.clear();
    run.step("freed");
    mesh->close();
    run.step("close");
}

}  // namespace ttmem::sim
