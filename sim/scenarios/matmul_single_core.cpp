// SPDX-License-Identifier: Apache-2.0
//
// A matmul of 640 x 640 on one core of a plain device: three DRAM buffers, three circular buffers, three kernels.
#include <tt-metalium/host_api.hpp>
#include <tt-metalium/tt_metal.hpp>

#include "sim/scenarios/ops.hpp"
#include "sim/scenarios/run.hpp"
#include "sim/scenarios/scenario.hpp"

namespace ttmem::sim {

using namespace tt::tt_metal;

void run_matmul_single_core(Run& run) {
    constexpr DeviceAddr kMatrix = DeviceAddr{640} * 640 * 2;
    std::vector<IDevice*> devices;
    for (const int chip : run.chips()) {
        devices.push_back(CreateDevice(chip));
    }
    run.step("open");

    std::vector<std::shared_ptr<Buffer>> buffers;
    std::vector<Program> programs;
    for (IDevice* device : devices) {
        const ops::Scope scope("matmul_single_core");
        for (int matrix = 0; matrix < 3; ++matrix) {
            buffers.push_back(CreateBuffer(InterleavedBufferConfig{.device = device,
                                                                   .size = kMatrix,
                                                                   .page_size = ops::kTilePage,
                                                                   .buffer_type = BufferType::DRAM}));
        }
        programs.push_back(ops::build({.name = "matmul_single_core",
                                       .cores = CoreRange(CoreCoord(0, 0)),
                                       .circular_buffers = {4096, 4096, 4096},
                                       .kernels = {2048, 2048, 6144}}));
    }
    run.step("buffers");
    for (size_t i = 0; i < devices.size(); ++i) {
        const ops::Scope scope("matmul_single_core");
        detail::LaunchProgram(devices[i], programs[i]);
    }
    run.step("launch");
    for (size_t i = 0; i < devices.size(); ++i) {
        detail::LaunchProgram(devices[i], programs[i]);
    }
    run.step("launch again");
    programs.clear();
    run.step("program gone");
    buffers.clear();
    run.step("buffers freed");
    for (IDevice* device : devices) {
        CloseDevice(device);
    }
    run.step("close");
}

}  // namespace ttmem::sim
