// SPDX-License-Identifier: Apache-2.0
//
// Fills DRAM with blocks of random size and frees every second one: half of the memory is free, and a request for a
// quarter of it fails.
#include <fmt/format.h>

#include <stdexcept>

#include "sim/scenarios/ops.hpp"
#include "sim/scenarios/run.hpp"
#include "sim/scenarios/scenario.hpp"

namespace ttmem::sim {

void run_fragmentation(Run& run) {
    const auto mesh = run.open_mesh();
    run.step("open");
    const uint64_t capacity = memory_geometry(run.board(), {})[PoolKind::dram].capacity();
    std::vector<ops::Tensor> tensors;
    {
        const ops::Scope scope("activations");
        std::uniform_int_distribution<uint64_t> pages(capacity / 128 / ops::kTilePage,
                                                      capacity / 64 / ops::kTilePage);
        uint64_t taken = 0;
        while (true) {
            const uint64_t size = pages(run.random()) * ops::kTilePage;
            if (taken + size > capacity / 100 * 95) {
                break;
            }
            tensors.push_back(ops::empty(*mesh, size));
            taken += size;
        }
    }
    run.step("filled");
    for (size_t i = 0; i < tensors.size(); i += 2) {
        tensors[i].reset();
    }
    run.step("every second freed");
    bool refused = false;
    try {
        const ops::Scope scope("logits");
        (void)ops::empty(*mesh, capacity / 4 / ops::kTilePage * ops::kTilePage);
    } catch (const std::runtime_error& error) {
        refused = true;
        fmt::print("refused: {}\n", error.what());
    }
    if (!refused) {
        throw std::logic_error("a quarter of DRAM was found in one piece");
    }
    run.step("no block large enough");
    tensors.clear();
    run.step("freed");
    mesh->close();
    run.step("close");
}

}  // namespace ttmem::sim
