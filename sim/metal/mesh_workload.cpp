// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <tt-metalium/distributed.hpp>
#include <tt-metalium/mesh_workload.hpp>
#include <tt-metalium/tt_metal.hpp>
#include <tt_stl/assert.hpp>
#include <utility>

#include "sim/metal/mesh_workload_impl.hpp"
#include "sim/metal/options.hpp"
#include "sim/metal/program_impl.hpp"

namespace tt::tt_metal::distributed {

void MeshWorkloadImpl::add_program(const MeshCoordinateRange& device_range, Program&& program) {
    for (const auto& [range, other] : programs) {
        TT_FATAL(!range.intersects(device_range), "two programs of a workload share a device");
    }
    programs.emplace(device_range, std::move(program));
}

void MeshWorkloadImpl::compile(MeshDevice* mesh_device) {
    if (programs.size() == 1 || compiled_) {
        for (auto& [range, program] : programs) {
            program.impl().compile_and_allocate(mesh_device, false);
        }
    } else {
        for (auto& [range, program] : programs) {
            mesh_device->enqueue_to_thread_pool([&program = program, mesh_device] {
                program.impl().compile_and_allocate(mesh_device, false);
            });
        }
        mesh_device->wait_for_thread_pool();
    }
    compiled_ = true;
}

void MeshWorkloadImpl::load_binaries(MeshCommandQueue& mesh_cq) {
    if (!ttmem::sim::metal_options().kernel_binaries || kernel_binaries_ != nullptr) {
        return;
    }
    uint64_t largest = 0;
    for (const auto& [range, program] : programs) {
        largest = std::max(largest, program.impl().kernel_binaries_size());
    }
    if (largest == 0) {
        return;
    }
    TT_FATAL(!mesh_cq.trace_id().has_value(),
             "a program must have run once before it can be part of a trace");
    kernel_binaries_ =
        MeshBuffer::create(ReplicatedBufferConfig{.size = largest},
                           DeviceLocalBufferConfig{.page_size = detail::kKernelBinariesPageSize,
                                                   .buffer_type = BufferType::DRAM,
                                                   .bottom_up = false},
                           mesh_cq.device());
}

void MeshWorkloadImpl::dispatch(MeshDevice* mesh_device) {
    for (auto& [range, program] : programs) {
        for (IDevice* device : mesh_device->get_view().get_devices(range)) {
            tt_metal::detail::TrackKernelDispatch(device, program);
        }
    }
}

MeshWorkload::MeshWorkload() : pimpl_(std::make_unique<MeshWorkloadImpl>()) {}
MeshWorkload::~MeshWorkload() = default;
MeshWorkload::MeshWorkload(MeshWorkload&& other) noexcept = default;
MeshWorkload& MeshWorkload::operator=(MeshWorkload&& other) noexcept = default;

void MeshWorkload::add_program(const MeshCoordinateRange& device_range, Program&& program) {
    pimpl_->add_program(device_range, std::move(program));
}

std::unordered_map<MeshCoordinateRange, Program>& MeshWorkload::get_programs() { return pimpl_->programs; }

const std::unordered_map<MeshCoordinateRange, Program>& MeshWorkload::get_programs() const {
    return pimpl_->programs;
}

}  // namespace tt::tt_metal::distributed
