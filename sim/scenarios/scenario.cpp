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
    Scenario{"kernel-ring", "a program whose kernels are larger than the kernel ring", "n150", 1, false,
             false, run_kernel_ring},
    Scenario{"trace-live-allocation", "allocates while a trace is alive", "n150", 1, false, true,
             run_trace_live_allocation},
    Scenario{"multi-thread", "threads allocate, other threads free", "t3000", 8, false, false,
             run_multi_thread},
    Scenario{"crash", "dies by SIGKILL while it holds memory", "t3000", 8, true, true, run_crash},
    Scenario{"churn", "load: threads that allocate and free at a given rate", "t3000", 8, false, false,
             run_churn},
    // Failures that users met.
    Scenario{"case-01", "fragmented: 36 times the need is free", "n150", 1, false, false, run_case_01},
    Scenario{"case-02", "fragmented: one neighbour in L1", "n150", 1, false, false, run_case_02},
    Scenario{"case-03", "fragmented: after a long run", "n150", 1, false, false, run_case_03},
    Scenario{"case-04", "fragmented: several small blocks between the free ones", "n150", 1, false, false,
             run_case_04},
    Scenario{"case-05", "not enough DRAM", "n150", 1, false, false, run_case_05},
    Scenario{"case-06", "not enough L1", "n150", 1, false, false, run_case_06},
    Scenario{"case-07", "too big: l1_small_size", "n150", 1, false, false, run_case_07},
    Scenario{"case-08", "too big: needs more cores", "n150", 1, false, false, run_case_08},
    Scenario{"case-09", "clash by 192 bytes: l1_small_size", "p150", 1, false, false, run_case_09},
    Scenario{"case-10", "clash by 3,488 bytes", "n150", 1, false, false, run_case_10},
    Scenario{"case-11", "clash on 32 chips", "galaxy", 32, false, false, run_case_11},
    Scenario{"case-12", "clash on core 0,0 of a P100", "p100", 1, false, false, run_case_12},
    Scenario{"case-12-p150", "the program of case-12 on a P150, where it runs", "p150", 1, false, false,
             run_case_12_p150},
    Scenario{"case-13", "circular buffers beyond L1", "n150", 1, false, false, run_case_13},
    Scenario{"case-14", "trace region too small by 1.4 MB", "n150", 1, false, false, run_case_14},
    Scenario{"case-15", "trace region too small, in a nightly run", "n150", 1, false, false, run_case_15},
    Scenario{"case-15-next", "the trace of case-15 in the next night: larger", "n150", 1, false, false,
             run_case_15_next},
    Scenario{"case-16", "L1_SMALL: config tensors of a cache", "n150", 1, false, false, run_case_16},
    Scenario{"case-17", "addresses per core: 72 KiB on 8 cores refused with 278 KiB in one block", "n150", 1,
             false, false, run_case_17},
};

}  // namespace

std::span<const Scenario> scenarios() { return kScenarios; }

const Scenario* find_scenario(std::string_view name) {
    const auto* found = std::ranges::find(kScenarios, name, &Scenario::name);
    return found == kScenarios.end() ? nullptr : found;
}

}  // namespace ttmem::sim
