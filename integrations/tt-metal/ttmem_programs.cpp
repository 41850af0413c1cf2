// SPDX-License-Identifier: Apache-2.0

// Programs: circular buffers, dataflow buffers, scratchpads, kernels, clashes, traces.

#include <algorithm>
#include <map>
#include <string_view>
#include <tt-metalium/core_coord.hpp>
#include <tt-metalium/device.hpp>
#include <tt-metalium/mesh_command_queue.hpp>
#include <tt-metalium/mesh_device.hpp>
#include <tt-metalium/mesh_device_view.hpp>
#include <tt-metalium/mesh_workload.hpp>
#include <tt-metalium/program.hpp>
#include <tuple>

#include "impl/allocator/allocator.hpp"
#include "impl/buffers/circular_buffer.hpp"
#include "impl/context/metal_context.hpp"
#include "impl/dataflow_buffer/dataflow_buffer_impl.hpp"
#include "impl/kernels/kernel.hpp"
#include "impl/program/program_impl.hpp"
#include "llrt/hal.hpp"
#include "ttmem_state.hpp"

namespace tt::tt_metal::ttmem_reporter {

using detail::ProgramImpl;
using distributed::MeshDevice;

namespace {

ttmem_cores mask_of(const CoreRangeSet& cores) {
    ttmem_cores mask{};
    for (const CoreRange& range : cores.ranges()) {
        ttmem_cores_add(&mask, static_cast<unsigned>(range.start_coord.x),
                        static_cast<unsigned>(range.start_coord.y), static_cast<unsigned>(range.end_coord.x),
                        static_cast<unsigned>(range.end_coord.y));
    }
    return mask;
}

// Older releases have none.
template <class Kernel>
void add_scratchpads(const Kernel& kernel, std::vector<Region>& regions) {
    if constexpr (requires { kernel.scratchpad_binding_handles(); }) {
        for (const auto& scratchpad : kernel.scratchpad_binding_handles()) {
            if (scratchpad.allocated_address != 0) {
                regions.push_back({scratchpad.allocated_address, scratchpad.size_bytes, TTMEM_SCRATCHPAD,
                                   mask_of(kernel.core_range_set())});
            }
        }
    }
}

// Dataflow buffers and scratchpads that have addresses.
std::vector<Region> dataflow_regions(ProgramImpl& program) {
    std::vector<Region> regions;
    for (const auto& buffer : program.dataflow_buffers()) {
        if (!buffer->alias_primary_id && !buffer->core_lookup_.empty()) {
            regions.push_back({buffer->core_lookup_.begin()->second.second, buffer->total_size(),
                               TTMEM_DATAFLOW | (buffer->borrows_memory() ? TTMEM_VIEW : 0u),
                               mask_of(buffer->core_ranges)});
        }
    }
    const uint32_t core_types = MetalContext::instance().hal().get_programmable_core_type_count();
    for (uint32_t type = 0; type < core_types; ++type) {
        for (const auto& [handle, kernel] : program.get_kernels(type)) {
            add_scratchpads(*kernel, regions);
        }
    }
    return regions;
}

void report_dataflow(State& state, ProgramImpl& program, const IDevice* device) {
    const std::vector<Region> regions = dataflow_regions(program);
    if (regions.empty() && !state.programs.is_known(&program)) {
        return;
    }
    for (const IDevice* chip : chips_of(device)) {
        state.programs.replace(&program, program.get_id(), chip, set_of(state, chip), regions);
    }
}

std::vector<Region> owned_regions(ProgramImpl& program) {
    std::vector<Region> regions = dataflow_regions(program);
    for (const auto& buffer : program.circular_buffers()) {
        if (!buffer->globally_allocated()) {
            regions.push_back({buffer->address(), buffer->size(), 0, mask_of(buffer->core_ranges())});
        }
    }
    std::erase_if(regions, [](const Region& region) { return (region.flags & TTMEM_VIEW) != 0; });
    return regions;
}

std::pair<uint16_t, uint16_t> first_core_of(const ttmem_cores& cores) {
    for (uint16_t y = 0; y < 16; ++y) {
        for (uint16_t x = 0; x < 16; ++x) {
            if ((cores.row[y] >> x & 1) != 0) {
                return {x, y};
            }
        }
    }
    return {0, 0};
}

void report_clash(State& state, ProgramImpl& program, const IDevice* device) {
    const std::vector<Region> regions = owned_regions(program);
    const auto highest = std::max_element(
        regions.begin(), regions.end(),
        [](const Region& a, const Region& b) { return a.address + a.size < b.address + b.size; });
    const auto lowest = device->lowest_occupied_compute_l1_address(program.determine_sub_device_ids(device));
    const uint64_t l1_end = device->l1_size_per_core();
    const uint64_t end = highest != regions.end() ? highest->address + highest->size : 0;
    const bool is_beyond_l1 = end > l1_end;
    if (!is_beyond_l1 && (!lowest || end <= *lowest)) {
        return;  // it failed for another reason
    }
    const auto describe = [&](auto& clash) {
        clash.set = set_of(state, device);
        std::tie(clash.core_x, clash.core_y) = first_core_of(highest->cores);
        clash.program = program.get_id();
        for (const Region& region : regions) {
            clash.requested += (region.cores.row[clash.core_y] >> clash.core_x & 1) != 0 ? region.size : 0;
        }
        clash.cb_end = end;
        clash.free_per_bank = device->allocator_impl()->get_statistics(BufferType::L1).total_free_bytes;
    };
    if (is_beyond_l1) {
        ttmem_cb_overflow overflow{};
        describe(overflow);
        overflow.l1_end = l1_end;
        return ttmem_cb_overflowed(&overflow);
    }
    ttmem_cb_clash clash{};
    describe(clash);
    clash.lowest_buffer = *lowest;
    clash.blocker = state.buffers.handle_at(clash.set, TTMEM_L1, *lowest);
    ttmem_cb_clashed(&clash);
}

// The path of the source gives the kernel's type.
ttmem_kind kind_of_kernel(std::string_view source) {
    if (source.find("tt_metal/fabric/") != std::string_view::npos) {
        return TTMEM_KERNEL_FABRIC;
    }
    return source.find("tt_metal/impl/dispatch/") != std::string_view::npos ? TTMEM_KERNEL_DISPATCH
                                                                            : TTMEM_KERNEL_APPLICATION;
}

void report_kernels(State& state, const ProgramImpl& program, IDevice* chip) {
    if (!state.programs.is_first_load(&program, program.get_id(), chip)) {
        return;
    }
    std::map<ttmem_kind, uint64_t> bytes;
    for (const auto& kernel : program.collect_kernel_meta(chip)) {
        for (const auto& binary : kernel.binary_meta) {
            bytes[kind_of_kernel(kernel.source)] += binary.packed_size;
        }
    }
    for (const auto& [kind, size] : bytes) {
        if (size != 0) {
            ttmem_load_kernel(set_of(state, chip), program.get_id(), kind, size);
        }
    }
}

void report_launch(State& state, const MeshDevice& mesh, distributed::MeshWorkload& workload) {
    for (auto& [range, program] : workload.get_programs()) {
        const ProgramImpl& impl = program.impl();
        // Once per mesh, so that launching a workload again costs one search.
        if (state.programs.is_first_load(&impl, impl.get_id(), &mesh)) {
            for (IDevice* chip : mesh.get_view().get_devices(range)) {
                report_kernels(state, impl, chip);
            }
        }
    }
}

// The runtime refuses a trace that exceeds its region before it allocates.
void report_full_trace_region(State& state, const MeshDevice& mesh, uint64_t size_before) {
    const AllocatorImpl& allocator = *mesh.allocator_impl();
    const uint64_t region = allocator.get_config().trace_region_size;
    const uint64_t size = mesh.get_trace_buffers_size();
    const uint64_t banks = allocator.get_num_banks(BufferType::TRACE);
    if (region == 0 || size <= region || size <= size_before || banks == 0) {
        return;  // it failed for another reason
    }
    const Statistics now = allocator.get_statistics(BufferType::TRACE);
    ttmem_out_of_memory failure{};
    failure.set = set_of(state, &mesh);
    failure.kind = TTMEM_TRACE;
    failure.requested = size - size_before;
    failure.needed_per_bank =
        round_to((failure.requested + banks - 1) / banks, allocator.get_alignment(BufferType::DRAM));
    // The limit is the size of the region as requested. The banks are larger: it is rounded up in each.
    const uint64_t left = region > size_before ? (region - size_before) / banks : 0;
    failure.free_per_bank = std::min<uint64_t>(now.total_free_bytes, left);
    failure.largest_free_per_bank = std::min<uint64_t>(now.largest_free_block_bytes, left);
    ttmem_allocation_failed(&failure);
}

}  // namespace

void circular_buffer(const CoreRangeSet& cores, uint64_t address, uint64_t size, bool is_global,
                     const IDevice* chip) noexcept {
    report([&](State& state) {
        const ThreadData& data = thread_data;
        if (data.program != nullptr) {  // else a capture reports a program that never runs
            state.programs.add(data.program, data.program->get_id(), data.layout, chip, set_of(state, chip),
                               {address, size, is_global ? TTMEM_VIEW : 0u, mask_of(cores)});
        }
    });
}

void program_gone(const ProgramImpl* program) noexcept {
    report([&](State& state) { state.programs.gone(program); });
}

ProgramGuard::ProgramGuard(const ProgramImpl* program) noexcept
    : outer_program_(thread_data.program), outer_layout_(thread_data.layout) {
    report([&](State& state) {
        thread_data.layout = state.programs.next_layout();
        thread_data.program = program;
    });
}
ProgramGuard::~ProgramGuard() {
    thread_data.program = outer_program_;
    thread_data.layout = outer_layout_;
}

DataflowGuard::DataflowGuard(ProgramImpl* program, const IDevice* device) noexcept
    : program_(program), device_(device) {}
DataflowGuard::~DataflowGuard() {
    if (has_succeeded()) {
        report([&](State& state) { report_dataflow(state, *program_, device_); });
    }
}

ClashGuard::ClashGuard(ProgramImpl* program, const IDevice* device) noexcept
    : program_(program), device_(device) {}
ClashGuard::~ClashGuard() {
    if (has_failed()) {
        report_if_possible([&](State& state) { report_clash(state, *program_, device_); });
    }
}

LaunchGuard::LaunchGuard(const IDevice* device, Program& program) noexcept
    : device_(device), program_(&program), queue_(nullptr), workload_(nullptr) {}
LaunchGuard::LaunchGuard(const distributed::MeshCommandQueue& queue,
                         distributed::MeshWorkload& workload) noexcept
    : device_(nullptr), program_(nullptr), queue_(&queue), workload_(&workload) {}
LaunchGuard::~LaunchGuard() {
    if (!has_succeeded()) {
        return;
    }
    // Without its kernels the rest of a program is still right.
    report_if_possible([&](State& state) {
        if (workload_ != nullptr) {
            report_launch(state, *queue_->device(), *workload_);
            return;
        }
        for (IDevice* chip : chips_of(device_)) {
            report_kernels(state, program_->impl(), chip);
        }
    });
}

TraceGuard::TraceGuard(const distributed::MeshCommandQueue& queue) noexcept : queue_(queue) {
    report_if_possible([&](State&) { size_before_ = queue.device()->get_trace_buffers_size(); });
}
TraceGuard::~TraceGuard() {
    if (has_failed()) {
        report_if_possible(
            [&](State& state) { report_full_trace_region(state, *queue_.device(), size_before_); });
    }
}

}  // namespace tt::tt_metal::ttmem_reporter
