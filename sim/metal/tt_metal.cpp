// SPDX-License-Identifier: Apache-2.0
#include <tt-metalium/graph_tracking.hpp>
#include <tt-metalium/host_api.hpp>
#include <tt-metalium/tt_metal.hpp>
#include <tt_stl/assert.hpp>

#include "sim/metal/cluster.hpp"
#include "sim/metal/program_impl.hpp"

namespace tt::tt_metal::detail {

std::map<ChipId, IDevice*> CreateDevices(const std::vector<ChipId>& device_ids, uint8_t num_hw_cqs,
                                         size_t l1_small_size, size_t trace_region_size,
                                         const tt_metal::DispatchCoreConfig& dispatch_core_config,
                                         const std::vector<uint32_t>& l1_bank_remap, size_t worker_l1_size,
                                         bool, bool, bool) {
    std::map<ChipId, IDevice*> devices;
    for (const ChipId chip : device_ids) {
        devices[chip] = CreateDevice(chip, num_hw_cqs, l1_small_size, trace_region_size, dispatch_core_config,
                                     l1_bank_remap, worker_l1_size);
    }
    return devices;
}

void CloseDevices(const std::map<ChipId, IDevice*>& devices) {
    for (const auto& [chip, device] : devices) {
        device->close();
    }
}

IDevice* GetActiveDevice(ChipId device_id) {
    Device& device = ttmem::sim::Cluster::instance().device(device_id);
    TT_FATAL(device.is_initialized(), "chip {} is not open", device_id);
    return &device;
}

void CompileProgram(IDevice* device, Program& program, bool force_slow_dispatch) {
    program.impl().compile(device, force_slow_dispatch);
}

bool ConfigureDeviceWithProgram(IDevice* device, Program& program, bool force_slow_dispatch) {
    program.impl().compile_and_allocate(device, force_slow_dispatch);
    TrackKernelDispatch(device, program);
    return true;
}

void LaunchProgram(IDevice* device, Program& program, bool /*wait_until_cores_done*/,
                   bool force_slow_dispatch) {
    program.impl().compile(device, force_slow_dispatch);
    program.impl().allocate_kernel_bin_buf_on_device(device);
    ConfigureDeviceWithProgram(device, program, force_slow_dispatch);
}

void LaunchProgram(IDevice* device, const std::shared_ptr<Program>& program, bool wait_until_cores_done,
                   bool force_slow_dispatch) {
    LaunchProgram(device, *program, wait_until_cores_done, force_slow_dispatch);
}

void WaitProgramDone(IDevice* /*device*/, Program& /*program*/, bool /*read_device_profiler_results*/) {}

void TrackKernelDispatch(IDevice* device, Program& program) {
    const auto bytes = program.impl().kernel_bytes();
    for (Device* chip : chips_of(device)) {
        if (!program.impl().load_kernels(chip)) {
            continue;
        }
        for (size_t type = 0; type < bytes.size(); ++type) {
            if (bytes[type] != 0) {
                GraphTracker::instance().track_kernel_load(bytes[type], program.impl().get_id(),
                                                           static_cast<GraphTracker::KernelType>(type), chip);
            }
        }
    }
}

}  // namespace tt::tt_metal::detail
