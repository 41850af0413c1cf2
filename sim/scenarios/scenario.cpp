// SPDX-License-Identifier: Apache-2.0
#include "sim/scenarios/scenario.hpp"

#include <algorithm>
#include <array>

namespace ttmem::sim {
namespace {

constexpr std::array kScenarios = {
    Scenario{"mesh-allocation", "the mesh test: tensors, add and matmul on 8 devices, freed one by one",
             "t3000", 8, true, true, run_mesh_allocation},
    Scenario{"tracking", "one buffer of every kind on a single device", "n150", 1, false, false,
             run_tracking},
    Scenario{"matmul-single-core", "a matmul on one core, launched on a plain device", "n150", 1, true, true,
             run_matmul_single_core},
    Scenario{"matmul-multicore-reuse", "a matmul on the whole grid, enqueued again from the cache", "n300", 2,
             true, true, run_matmul_multicore_reuse},
    Scenario{"transformer-dp4", "a transformer on each device: weights, KV cache, cached programs, traces",
             "t3000", 4, true, true, run_transformer},
    Scenario{"programs",
             "circular buffers and kernels: laid out again, on other buffers, two programs at once", "t3000",
             8, false, true, run_programs},
    Scenario{"lifetimes", "views, submeshes, bulk free, buffers that outlive their mesh", "t3000", 8, false,
             false, run_lifetimes},
    Scenario{"hooked-capture", "a graph capture that plans buffers and allocates none", "n300", 2, false,
             false, run_hooked_capture},
    Scenario{"leak", "one layer forgets a buffer each step", "n150", 1, false, true, run_leak},
    Scenario{"fragmentation", "enough DRAM is free, but no block is large enough", "n150", 1, false, false,
             run_fragmentation},
    Scenario{"oom-dram", "allocates until DRAM is full", "n150", 1, true, false, run_oom_dram},
    Scenario{"cb-clash", "circular buffers that reach into an L1 buffer", "n150", 1, false, false,
             run_cb_clash},
    Scenario{"trace-live-allocation", "allocates while a trace is alive", "n150", 1, false, true,
             run_trace_live_allocation},
    Scenario{"multi-thread", "threads allocate, other threads free", "t3000", 8, false, false,
             run_multi_thread},
    Scenario{"crash", "dies by SIGKILL while it holds memory", "t3000", 8, true, true, run_crash},
    Scenario{"churn", "load: threads that allocate and free at a given rate", "t3000", 8, false, false,
             run_churn},
};

}  // namespace

std::span<const Scenario> scenarios() { return kScenarios; }

const Scenario* find_scenario(std::string_view name) {
    const auto* found = std::ranges::find(kScenarios, name, &Scenario::name);
    return found == kScenarios.end() ? nullptr : found;
}

}  // namespace ttmem::sim
