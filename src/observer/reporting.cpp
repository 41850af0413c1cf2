// SPDX-License-Identifier: Apache-2.0
#include <ttmem/ttmem.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "observer/observer.hpp"

namespace ttmem::observer {

namespace {

// Another reporter in the process may create its segment only with its first buffers.
constexpr unsigned kMostScans = 4;

uint64_t round_up(uint64_t value, uint64_t step) { return (value + step - 1) / step * step; }

uint32_t kind_of(const metal::Buffer* buffer) { return static_cast<uint32_t>(buffer->buffer_type()); }

// The path of the source gives the kernel's type: application, fabric, dispatch.
size_t type_of_kernel(std::string_view source) {
    if (source.find("tt_metal/fabric/") != std::string_view::npos) {
        return 1;
    }
    return source.find("tt_metal/impl/dispatch/") != std::string_view::npos ? 2 : 0;
}

}  // namespace

void Observer::watch_thread(metal::GraphTracker* tracker) {
    ThreadData& data = thread_data();
    if (data.has_processor || processor_ == nullptr) {
        return;
    }
    // On top of another processor it would be popped in its place at the end of a capture.
    if (metal.processors(tracker).empty()) {
        metal.push_processor(tracker, processor_);
        data.has_processor = true;
    }
}

// Checks the first buffer. If its layout differs, no buffer is recorded from then on.
void Observer::expect(const metal::Buffer* buffer) {
    std::call_once(first_buffer_, [&] {
        if (!is_laid_out_as_expected(metal, buffer)) {
            sets.disable("its buffers are not those of the tt-metal that this observer was built for");
        }
    });
}

// The bytes reserved for it on one device, in all banks.
uint64_t Observer::reserved_bytes(const ObservedSet& set, const metal::Buffer* buffer) const {
    const uint64_t per_bank = round_up(metal.buffer_size_per_bank(buffer), set.rounding);
    return per_bank * set.banks[kind_of(buffer)];
}

void Observer::allocated(const metal::Buffer* buffer) {
    expect(buffer);
    ThreadData& data = thread_data();
    if (data.scans < kMostScans) {
        ++data.scans;
        sets.find_other_reporter();
    }
    const auto set = sets.of(buffer->device());
    if (!set) {
        return;
    }
    report_scopes();
    const bool is_planned = std::exchange(data.hooked, nullptr) == buffer;
    const uint32_t kind = kind_of(buffer);
    const uint64_t address = metal.buffer_address(buffer);
    BufferRecord record{.set = set->set, .kind = kind, .address = address};
    record.allocator = !is_planned && data.allocated == buffer ? data.allocator : nullptr;
    record.handle = ttmem_allocate(set->set, kind | (is_planned ? TTMEM_PLANNED : 0u), address,
                                   buffer->size(), reserved_bytes(*set, buffer), buffer->unique_id());
    if (const auto before = buffers.put(buffer, record)) {
        ttmem_free(before->handle);
    }
}

void Observer::freed(const metal::Buffer* buffer) {
    if (const auto record = buffers.take(buffer)) {
        report_scopes();
        ttmem_free(record->handle);
    }
}

void Observer::closed(const metal::IDevice* device) {
    for (const Sets::ClosedSet& closed : sets.close(device)) {
        buffers.forget_set(closed.set);
        programs.forget_device(closed.device);
    }
}

void Observer::circular_buffer(const metal::IDevice* device, const ObservedPrograms::CircularBuffer& buffer) {
    const Frame& frame = thread_data().frame;
    if (frame.program == nullptr) {
        return;  // a capture reports programs that never run
    }
    if (const auto set = sets.of(device)) {
        report_scopes();
        programs.add(frame, device, set->set, buffer);
    }
}

void Observer::load_on_chip(const metal::Program& program, metal::IDevice* chip) {
    const void* impl = &program.impl();
    const auto set = sets.of(chip);
    if (!set || !programs.is_first_load(impl, chip)) {
        return;
    }
    std::array<uint64_t, 3> bytes{};
    for (const metal::detail::KernelMeta& kernel : metal.kernels_of(program, chip)) {
        for (const metal::detail::KernelBinaryMeta& binary : kernel.binary_meta) {
            bytes[type_of_kernel(kernel.source)] += binary.packed_size;
        }
    }
    report_scopes();
    for (size_t type = 0; type < bytes.size(); ++type) {
        if (bytes[type] != 0) {
            ttmem_load_kernel(set->set, programs.id_of(impl),
                              static_cast<ttmem_kind>(TTMEM_KERNEL_APPLICATION + type), bytes[type]);
        }
    }
}

void Observer::loaded(const metal::Program& program, metal::IDevice* device) {
    for (metal::IDevice* chip : metal.chips_of(device)) {
        load_on_chip(program, chip);
    }
}

void Observer::loaded(const metal::distributed::MeshCommandQueue& queue,
                      metal::distributed::MeshWorkload& workload) {
    const metal::distributed::MeshDevice* mesh = queue.device();
    for (const auto& [range, program] : metal.workload_programs(&workload)) {
        // Once per mesh, so that launching a workload again costs one lookup.
        if (sets.of(mesh) && programs.is_first_load(&program.impl(), mesh)) {
            for (metal::IDevice* chip : metal.view_devices(&metal.mesh_view(mesh), range)) {
                load_on_chip(program, chip);
            }
        }
    }
}

// The buffer counts its pages in 32 bits, too few for some sizes that must be refused.
uint64_t Observer::needed_per_bank(const ObservedSet& set, const metal::Buffer* buffer) const {
    const uint64_t page_size = metal.buffer_page_size(buffer);
    const uint32_t banks = set.banks[kind_of(buffer)];
    if (buffer->buffer_layout() != metal::TensorMemoryLayout::INTERLEAVED || page_size == 0 || banks == 0) {
        return round_up(metal.buffer_size_per_bank(buffer), set.rounding);
    }
    const uint64_t pages = round_up(buffer->size() / page_size, banks) / banks;
    return round_up(pages * metal.buffer_aligned_page_size(buffer), set.rounding);
}

void Observer::out_of_memory(const metal::Buffer* buffer) {
    expect(buffer);
    const auto set = sets.of(buffer->device());
    if (!set) {
        return;
    }
    const metal::Statistics now =
        metal.allocator_statistics(buffer->device()->allocator().get(), buffer->buffer_type());
    ttmem_out_of_memory failure{};
    failure.set = set->set;
    failure.kind = kind_of(buffer);
    failure.requested = buffer->size();
    failure.needed_per_bank = needed_per_bank(*set, buffer);
    failure.free_per_bank = now.total_free_bytes;
    failure.largest_free_per_bank = now.largest_free_block_bytes;
    if (failure.needed_per_bank > failure.largest_free_per_bank) {  // else it failed for another reason
        report_scopes();
        ttmem_allocation_failed(&failure);
    }
}

void Observer::clashed(const void* program, const metal::IDevice* device) {
    const auto layout = programs.layout_of(program);
    const auto set = layout ? sets.of(device) : std::nullopt;
    if (!set) {
        return;
    }
    const std::optional<metal::DeviceAddr> lowest = device->lowest_occupied_compute_l1_address();
    const uint64_t l1_end = device->l1_size_per_core();
    const uint64_t limit = std::min<uint64_t>(lowest.value_or(l1_end), l1_end);
    const auto region = std::find_if(layout->regions.begin(), layout->regions.end(),
                                     [&](const BufferRegion& each) { return each.end > limit; });
    if (region == layout->regions.end()) {
        return;  // it failed for another reason
    }
    ttmem_cb_clash clash{};
    clash.set = set->set;
    clash.core_x = static_cast<uint16_t>(region->core.x);
    clash.core_y = static_cast<uint16_t>(region->core.y);
    clash.program = layout->program;
    clash.requested = layout->bytes_per_core;
    clash.cb_end = region->end;
    clash.lowest_buffer = limit;
    clash.free_per_bank =
        metal.allocator_statistics(device->allocator().get(), metal::BufferType::L1).total_free_bytes;
    clash.blocker = lowest ? buffers.handle_at(set->set, TTMEM_L1, *lowest) : 0;
    report_scopes();
    ttmem_cb_clashed(&clash);
}

}  // namespace ttmem::observer
