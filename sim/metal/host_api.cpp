// SPDX-License-Identifier: Apache-2.0
#include <tt-metalium/host_api.hpp>
#include <tt-metalium/mesh_device.hpp>
#include <tt_stl/assert.hpp>
#include <type_traits>
#include <utility>

#include "sim/metal/cluster.hpp"
#include "sim/metal/program_impl.hpp"

namespace tt::tt_metal {
namespace {

template <typename Spec>
CoreRangeSet cores_of(const Spec& core_spec) {
    return std::visit(
        [](const auto& cores) {
            if constexpr (std::is_same_v<std::decay_t<decltype(cores)>, CoreCoord>) {
                return CoreRangeSet(CoreRange(cores));
            } else {
                return CoreRangeSet(cores);
            }
        },
        core_spec);
}

void require_kernel(const Program& program, KernelHandle kernel) {
    TT_FATAL(kernel < program.impl().kernels().size(), "program {} has no kernel {}", program.impl().get_id(),
             kernel);
}

}  // namespace

size_t GetNumAvailableDevices() { return ttmem::sim::Cluster::instance().size(); }

size_t GetNumPCIeDevices() {
    size_t count = 0;
    for (size_t chip = 0; chip < GetNumAvailableDevices(); ++chip) {
        count += ttmem::sim::Cluster::instance().device(static_cast<int>(chip)).is_mmio_capable() ? 1u : 0u;
    }
    return count;
}

IDevice* CreateDevice(ChipId device_id, uint8_t num_hw_cqs, size_t l1_small_size, size_t trace_region_size,
                      const DispatchCoreConfig&, const std::vector<uint32_t>& l1_bank_remap,
                      size_t worker_l1_size) {
    Device& device = ttmem::sim::Cluster::instance().device(device_id);
    device.initialize(num_hw_cqs, l1_small_size, trace_region_size, worker_l1_size, l1_bank_remap);
    device.take_system_buffers();
    return &device;
}

bool CloseDevice(IDevice* device) { return device->close(); }

Program CreateProgram() { return Program(); }

KernelHandle CreateKernel(Program& program, const std::string& file_name,
                          const std::variant<CoreCoord, CoreRange, CoreRangeSet>& core_spec,
                          const std::variant<DataMovementConfig, ComputeConfig>& config) {
    const auto slash = file_name.find_last_of('/');
    std::string name = slash == std::string::npos ? file_name : file_name.substr(slash + 1);
    return program.impl().add_kernel(Kernel(std::move(name), file_name, cores_of(core_spec), config));
}

KernelHandle CreateKernelFromString(Program& program, const std::string& kernel_src_code,
                                    const std::variant<CoreCoord, CoreRange, CoreRangeSet>& core_spec,
                                    const std::variant<DataMovementConfig, ComputeConfig>& config) {
    return program.impl().add_kernel(Kernel("from string", kernel_src_code, cores_of(core_spec), config));
}

CBHandle CreateCircularBuffer(Program& program,
                              const std::variant<CoreCoord, CoreRange, CoreRangeSet>& core_spec,
                              const CircularBufferConfig& config) {
    return program.impl().add_circular_buffer(cores_of(core_spec), config);
}

const CircularBufferConfig& GetCircularBufferConfig(Program& program, CBHandle cb_handle) {
    return program.impl().get_circular_buffer(cb_handle).config();
}

void UpdateCircularBufferTotalSize(Program& program, CBHandle cb_handle, uint32_t total_size) {
    CircularBufferImpl& buffer = program.impl().get_circular_buffer(cb_handle);
    buffer.config().set_total_size(total_size);
    if (!buffer.globally_allocated()) {
        program.impl().invalidate_circular_buffer_allocation();
    }
}

void UpdateDynamicCircularBufferAddress(Program& program, CBHandle cb_handle, const Buffer& buffer) {
    CircularBufferImpl& circular_buffer = program.impl().get_circular_buffer(cb_handle);
    TT_FATAL(circular_buffer.globally_allocated(), "circular buffer {} lies on no buffer", cb_handle);
    circular_buffer.config().set_globally_allocated_address(buffer);
}

uint32_t CreateSemaphore(Program& program, const std::variant<CoreRange, CoreRangeSet>& /*core_spec*/,
                         uint32_t /*initial_value*/) {
    return program.impl().create_semaphore();
}

void SetRuntimeArgs(const Program& program, KernelHandle kernel,
                    const std::variant<CoreCoord, CoreRange, CoreRangeSet>&, ttsl::Span<const uint32_t>) {
    require_kernel(program, kernel);
}

void SetRuntimeArgs(const Program& program, KernelHandle kernel,
                    const std::variant<CoreCoord, CoreRange, CoreRangeSet>&,
                    std::initializer_list<uint32_t>) {
    require_kernel(program, kernel);
}

std::shared_ptr<Buffer> CreateBuffer(const InterleavedBufferConfig& config) {
    return Buffer::create(config.device, config.size, config.page_size, config.buffer_type);
}

std::shared_ptr<Buffer> CreateBuffer(const InterleavedBufferConfig& config, DeviceAddr address) {
    return Buffer::create(config.device, address, config.size, config.page_size, config.buffer_type);
}

std::shared_ptr<Buffer> CreateBuffer(const ShardedBufferConfig& config) {
    return Buffer::create(config.device, config.size, config.page_size, config.buffer_type,
                          BufferShardingArgs(config.shard_parameters, config.buffer_layout));
}

std::shared_ptr<Buffer> CreateBuffer(const ShardedBufferConfig& config, DeviceAddr address) {
    return Buffer::create(config.device, address, config.size, config.page_size, config.buffer_type,
                          BufferShardingArgs(config.shard_parameters, config.buffer_layout));
}

void DeallocateBuffer(Buffer& buffer) { buffer.deallocate(); }

void AssignGlobalBufferToProgram(const std::shared_ptr<Buffer>& buffer, Program& program) {
    program.impl().add_buffer(buffer);
}

}  // namespace tt::tt_metal
