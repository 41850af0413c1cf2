// SPDX-License-Identifier: Apache-2.0
#include <tt-metalium/graph_tracking.hpp>

#include "truth.hpp"

namespace tt::tt_metal {

namespace {

std::vector<IDevice*> chips_of(const IDevice* device) {
    const auto* const mesh = dynamic_cast<const distributed::MeshDevice*>(device);
    return mesh != nullptr ? mesh->get_devices() : std::vector{const_cast<IDevice*>(device)};
}

size_t cores_in(const CoreRangeSet& cores) {
    size_t count = 0;
    for (const auto& [first, last] : cores.ranges()) {
        count += (last.x - first.x + 1) * (last.y - first.y + 1);
    }
    return count;
}

void account(const detail::ProgramImpl* program, const IDevice* chip, const CoreRangeSet& cores, uint64_t address,
             uint64_t size, bool is_view, const std::string& type) {
    truth::add(program, chip->label() + " cb at " + std::to_string(address) + " requested " + std::to_string(size) +
                            " used " + std::to_string(is_view ? 0 : size * cores_in(cores)) + (is_view ? " view" : "") + " " + type +
                            " owner " + std::to_string(program->get_id()) + " name " + truth::current_name());
}

}  // namespace

detail::ProgramImpl::ProgramImpl() {
    static uint64_t programs = 7;
    id_ = programs++;
}

detail :: ProgramImpl :: ~ProgramImpl() noexcept { truth::remove(this); }

std::vector<detail::KernelMeta> detail::ProgramImpl::collect_kernel_meta(IDevice*) const {
    return {{"reader", "kernels/reader.cpp", {{0, 300}, {1, 100}}}, {"mux", "tt_metal/fabric/mux.cpp", {{0, 64}}}};
}

const std::vector<SubDeviceId>& detail::ProgramImpl::determine_sub_device_ids(const IDevice*) {
    static const std::vector<SubDeviceId> ids = {0};
    return ids;
}

void detail::ProgramImpl::allocate_circular_buffers(const IDevice* device) {
    if (is_laid_out_) {
        return;
    }
    for (const auto& buffer : circular_) {
        for (const IDevice* chip : chips_of(device)) {
            account(this, chip, buffer->core_ranges(), buffer->address(), buffer->size(), buffer->globally_allocated(),
                    "circular");
            GraphTracker::instance().track_allocate_cb(buffer->core_ranges(), buffer->address(), buffer->size(),
                                                       buffer->globally_allocated(), chip);
        }
    }
}

void detail::ProgramImpl::allocate_scratchpads(const IDevice* device) {
    for (auto& [handle, kernel] : kernels_) {
        for (auto& scratchpad : kernel->scratchpad_binding_handles()) {
            if (scratchpad.allocated_address == 0) {
                scratchpad.allocated_address = 300'000;
                for (const IDevice* chip : chips_of(device)) {
                    account(this, chip, kernel->core_range_set(), 300'000, scratchpad.size_bytes, false, "scratchpad");
                }
            }
        }
    }
}

void detail::ProgramImpl::validate_circular_buffer_region(const IDevice* device) {
    const auto lowest = device->lowest_occupied_compute_l1_address({});
    for (const auto& buffer : circular_) {
        const uint64_t end = buffer->address() + buffer->size();
        const bool is_beyond_l1 = end > device->l1_size_per_core();
        if (!buffer->globally_allocated() && (is_beyond_l1 || (lowest && end > *lowest))) {
            truth::add_failure("clash of " + std::to_string(id_) + " ends " + std::to_string(end) + " lowest " +
                        std::to_string(is_beyond_l1 ? device->l1_size_per_core() : *lowest));
            throw std::runtime_error("circular buffers clash with a buffer");
        }
    }
}

void detail::ProgramImpl::launch_on(const IDevice* device, const std::vector<IDevice*>& chips) {
    const bool is_first = !is_laid_out_;
    allocate_circular_buffers(device);
    allocate_dataflow_buffers(device);
    allocate_scratchpads(device);
    is_laid_out_ = true;
    validate_circular_buffer_region(device);
    validate_dataflow_buffer_region(device);
    for (const IDevice* chip : chips) {
        if (is_first) {
            const std::string owner = " owner " + std::to_string(id_) + " name " + truth::current_name();
            truth::add(this, chip->label() + " kernel at None requested 400 used 400" + owner);
            truth::add(this, chip->label() + " kernel at None requested 64 used 64" + owner);
        }
    }
}

}  // namespace tt::tt_metal
