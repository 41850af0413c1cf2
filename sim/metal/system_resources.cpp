// SPDX-License-Identifier: Apache-2.0
#include "sim/metal/system_resources.hpp"

#include <array>
#include <tt-metalium/graph_tracking.hpp>
#include <tt-metalium/host_api.hpp>
#include <tt-metalium/tt_metal.hpp>

#include "sim/metal/device_impl.hpp"
#include "sim/metal/options.hpp"

namespace tt::tt_metal {
namespace {

struct SystemBuffer {
    const char* name;
    DeviceAddr size;
};

// Number and sum are those of a real host. The individual sizes are made up.
constexpr std::array kSystemBuffers = {SystemBuffer{"system::command_queue", 4'194'304},
                                       SystemBuffer{"system::command_queue", 4'194'304},
                                       SystemBuffer{"system::completion_queue", 1'048'576},
                                       SystemBuffer{"system::completion_queue", 1'048'576},
                                       SystemBuffer{"system::dispatch", 524'288},
                                       SystemBuffer{"system::dispatch", 524'288},
                                       SystemBuffer{"system::profiler", 2'097'152},
                                       SystemBuffer{"system::fabric", 524'288},
                                       SystemBuffer{"system::fabric", 524'288},
                                       SystemBuffer{"system::events", 73'728}};

constexpr DeviceAddr sum_of_system_buffers() {
    DeviceAddr sum = 0;
    for (const SystemBuffer& each : kSystemBuffers) {
        sum += each.size;
    }
    return sum;
}
static_assert(kSystemBuffers.size() == 10 && sum_of_system_buffers() == 14'753'792);

constexpr DeviceAddr kPageSize = 2048;

struct SystemKernel {
    const char* scope;
    const char* file;
};

constexpr std::array kSystemKernels = {
    SystemKernel{"system::fabric", "tt_metal/fabric/impl/kernels/edm_fabric/fabric_erisc_router.cpp"},
    SystemKernel{"system::fabric", "tt_metal/fabric/impl/kernels/edm_fabric/fabric_erisc_router.cpp"},
    SystemKernel{"system::dispatch", "tt_metal/impl/dispatch/kernels/cq_prefetch.cpp"},
    SystemKernel{"system::dispatch", "tt_metal/impl/dispatch/kernels/cq_dispatch.cpp"}};

}  // namespace

SystemBuffers::SystemBuffers(IDevice& device) {
    if (!ttmem::sim::metal_options().system) {
        return;
    }
    for (const SystemBuffer& each : kSystemBuffers) {
        GraphTracker::instance().track_function_start(each.name);
        buffers_.push_back(Buffer::create(&device, each.size, kPageSize, BufferType::DRAM));
        GraphTracker::instance().track_function_end();
    }
}

SystemPrograms::SystemPrograms(Device& device) {
    if (!ttmem::sim::metal_options().system) {
        return;
    }
    for (const SystemKernel& each : kSystemKernels) {
        GraphTracker::instance().track_function_start(each.scope);
        auto program = std::make_unique<Program>(CreateProgram());
        CreateKernel(*program, each.file, CoreCoord{0, 0}, DataMovementConfig{});
        detail::CompileProgram(&device, *program, true);
        detail::ConfigureDeviceWithProgram(&device, *program, true);
        programs_.push_back(std::move(program));
        GraphTracker::instance().track_function_end();
    }
}

}  // namespace tt::tt_metal
