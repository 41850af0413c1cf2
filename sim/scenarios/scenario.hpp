// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace ttmem::sim {

class Run;

// A workload with named steps. Between two steps anything may happen. During a step nothing changes, so the runtime's own
// figures can be compared with what others see.
struct Scenario {
    std::string_view name;
    std::string_view summary;
    std::string_view board;        // default
    uint32_t devices = 1;          // default; fewer if the board has fewer
    bool system = false;           // with the runtime's own buffers and kernels
    bool kernel_binaries = false;  // with a DRAM buffer for the kernels of each program
    void (*run)(Run&) = nullptr;
};

std::span<const Scenario> scenarios();
const Scenario* find_scenario(std::string_view name);

// Each is in the file of its name.
void run_cb_clash(Run& run);
void run_kernel_ring(Run& run);
void run_churn(Run& run);
void run_crash(Run& run);
void run_fragmentation(Run& run);
void run_hooked_capture(Run& run);
void run_leak(Run& run);
void run_lifetimes(Run& run);
void run_matmul_multicore_reuse(Run& run);
void run_matmul_single_core(Run& run);
void run_mesh_allocation(Run& run);
void run_multi_thread(Run& run);
void run_oom_dram(Run& run);
void run_programs(Run& run);
void run_trace_live_allocation(Run& run);
void run_tracking(Run& run);
void run_transformer(Run& run);

// In case_numbers.cpp.
void run_case_01(Run& run);
void run_case_02(Run& run);
void run_case_03(Run& run);
void run_case_04(Run& run);
void run_case_05(Run& run);
void run_case_06(Run& run);
void run_case_07(Run& run);
void run_case_08(Run& run);
void run_case_09(Run& run);
void run_case_10(Run& run);
void run_case_11(Run& run);
void run_case_12(Run& run);
void run_case_12_p150(Run& run);
void run_case_13(Run& run);
void run_case_14(Run& run);
void run_case_15(Run& run);
void run_case_15_next(Run& run);
void run_case_16(Run& run);
void run_case_17(Run& run);

}  // namespace ttmem::sim
