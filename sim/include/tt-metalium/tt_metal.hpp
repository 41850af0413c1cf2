// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include <tt-metalium/device.hpp>
#include <tt-metalium/dispatch_core_common.hpp>

namespace tt::tt_metal {

class Program;

namespace detail {

std::map<ChipId, IDevice*> CreateDevices(
    const std::vector<ChipId>& device_ids, uint8_t num_hw_cqs = 1,
    size_t l1_small_size = DEFAULT_L1_SMALL_SIZE, size_t trace_region_size = DEFAULT_TRACE_REGION_SIZE,
    const tt_metal::DispatchCoreConfig& dispatch_core_config = tt_metal::DispatchCoreConfig{},
    const std::vector<uint32_t>& l1_bank_remap = {}, size_t worker_l1_size = DEFAULT_WORKER_L1_SIZE,
    bool init_profiler = true, bool ignored = false, bool initialize_fabric_and_dispatch_fw = true);
void CloseDevices(const std::map<ChipId, IDevice*>& devices);
IDevice* GetActiveDevice(ChipId device_id);

// Compiles if needed, lays out the circular buffers, loads the kernels.
void LaunchProgram(IDevice* device, Program& program, bool wait_until_cores_done = true,
                   bool force_slow_dispatch = false);
void LaunchProgram(IDevice* device, const std::shared_ptr<Program>& program,
                   bool wait_until_cores_done = true, bool force_slow_dispatch = false);
void WaitProgramDone(IDevice* device, Program& program, bool read_device_profiler_results = true);
void CompileProgram(IDevice* device, Program& program, bool force_slow_dispatch = false);
bool ConfigureDeviceWithProgram(IDevice* device, Program& program, bool force_slow_dispatch = false);

// Not in tt-metal: added by the runtime that first reported to an allocation server. Reports that the program's kernels are
// on the device, or on every member of a mesh. Repeated calls count once.
void TrackKernelDispatch(IDevice* device, Program& program);

}  // namespace detail

}  // namespace tt::tt_metal
