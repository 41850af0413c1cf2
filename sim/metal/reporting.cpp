// SPDX-License-Identifier: Apache-2.0
#include "sim/metal/reporting.hpp"

#include <fmt/format.h>
#include <ttmem/ttmem.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <tt-metalium/buffer.hpp>
#include <tt-metalium/mesh_device.hpp>
#include <vector>

#include "sim/metal/allocator_impl.hpp"
#include "sim/metal/circular_buffer_records.hpp"
#include "sim/metal/device_impl.hpp"
#include "sim/metal/options.hpp"
#include "sim/metal/program_impl.hpp"

namespace tt::tt_metal::reporting {
namespace {

thread_local uint64_t current_program = 0;
thread_local uint64_t current_layout = 0;

bool reporting() {
    static const bool wanted = ttmem::sim::metal_options().reporting;
    return wanted && ttmem_enabled() != 0;
}

uint32_t kind_of(BufferType buffer_type) {
    return static_cast<uint32_t>(buffer_type);  // the first five kinds are tt-metal's types
}
static_assert(static_cast<int>(BufferType::DRAM) == TTMEM_DRAM &&
              static_cast<int>(BufferType::L1) == TTMEM_L1 &&
              static_cast<int>(BufferType::SYSTEM_MEMORY) == TTMEM_SYSTEM_MEMORY &&
              static_cast<int>(BufferType::L1_SMALL) == TTMEM_L1_SMALL &&
              static_cast<int>(BufferType::TRACE) == TTMEM_TRACE);

ttmem_memory_info memory_info(const ttmem::allocator::PoolGeometry& pool) {
    return {.base = pool.base,
            .size_per_bank = pool.size,
            .capacity = pool.capacity(),
            .banks = pool.banks,
            .alignment = pool.bank_alignment,
            .direction = static_cast<uint32_t>(pool.bottom_up ? TTMEM_BOTTOM_UP : TTMEM_TOP_DOWN),
            .reserved = 0};
}

ttmem_device register_chip(const Device& chip) {
    ttmem_device_info info{};
    info.asic_id = chip.asic_id();
    info.logical_id = static_cast<uint32_t>(chip.id());
    info.arch = chip.arch() == tt::ARCH::WORMHOLE_B0 ? TTMEM_ARCH_WORMHOLE_B0 : TTMEM_ARCH_BLACKHOLE;
    info.grid_x = static_cast<uint16_t>(chip.board().compute_grid.x);
    info.grid_y = static_cast<uint16_t>(chip.board().compute_grid.y);
    const std::string_view card = chip.board().card;
    std::memcpy(info.board, card.data(), std::min(card.size(), sizeof(info.board)));
    info.memory[TTMEM_DRAM] = memory_info(chip.memory()[ttmem::allocator::PoolKind::dram]);
    info.memory[TTMEM_L1] = memory_info(chip.memory()[ttmem::allocator::PoolKind::l1]);
    info.memory[TTMEM_L1_SMALL] = memory_info(chip.memory()[ttmem::allocator::PoolKind::l1_small]);
    info.memory[TTMEM_TRACE] = memory_info(chip.memory()[ttmem::allocator::PoolKind::trace]);
    return ttmem_register_device(&info);
}

// The bytes reserved for it on one device, in all banks.
uint64_t reserved_bytes(const Buffer* buffer) {
    const auto& pool = buffer->device()->allocator_impl()->memory()[pool_of(buffer->buffer_type())];
    return ttmem::allocator::round_up(buffer->aligned_size_per_bank(), pool.bank_alignment) * pool.banks;
}

ttmem_set set_of(const IDevice* device) {
    return device->is_initialized() ? device->allocator_impl()->tracking_set : 0;
}

}  // namespace

LayoutScope::LayoutScope(uint64_t program, uint64_t layout)
    : outer_program_(current_program), outer_layout_(current_layout) {
    current_program = program;
    current_layout = layout;
}

LayoutScope::~LayoutScope() {
    current_program = outer_program_;
    current_layout = outer_layout_;
}

void device_opened(const IDevice* device) {
    if (!reporting()) {
        return;
    }
    std::vector<ttmem_device> members;
    for (Device* chip : chips_of(device)) {
        chip->tracking_device = register_chip(*chip);
        members.push_back(chip->tracking_device);
    }
    const auto* mesh = dynamic_cast<const distributed::MeshDevice*>(device);
    const std::string label =
        mesh != nullptr ? fmt::format("mesh {}", mesh->id()) : fmt::format("device {}", device->id());
    const ttmem_set set =
        ttmem_open_set(members.data(), static_cast<uint32_t>(members.size()), label.c_str());
    if (mesh != nullptr && mesh->shape().dims() == 2) {
        ttmem_describe_mesh(set, static_cast<uint32_t>(mesh->num_rows()),
                            static_cast<uint32_t>(mesh->num_cols()));
    }
    device->allocator_impl()->tracking_set = set;
}

void device_closed(const IDevice* device) {
    const ttmem_set set = set_of(device);
    if (set == 0) {
        return;
    }
    CircularBufferRecords::instance().forget_set(set);
    device->allocator_impl()->tracking_set = 0;
    ttmem_close_set(set);
}

uint64_t buffer_allocated(const Buffer* buffer, uint32_t tracking_set, bool planned) {
    if (tracking_set == 0) {
        return 0;
    }
    const uint32_t kind = kind_of(buffer->buffer_type()) | (planned ? TTMEM_PLANNED : 0u);
    return ttmem_allocate(tracking_set, kind, buffer->address(), buffer->size(), reserved_bytes(buffer),
                          buffer->unique_id());
}

uint64_t view_made(const Buffer* buffer, uint32_t tracking_set) {
    if (tracking_set == 0) {
        return 0;
    }
    return ttmem_allocate(tracking_set, kind_of(buffer->buffer_type()) | TTMEM_VIEW, buffer->address(),
                          buffer->size(), reserved_bytes(buffer), buffer->unique_id());
}

void freed(uint64_t handle) {
    if (handle != 0) {
        ttmem_free(handle);
    }
}

void circular_buffer_allocated(const CoreRangeSet& cores, uint64_t address, uint64_t size, bool global,
                               const IDevice* device) {
    const ttmem_set set = set_of(device);
    if (set == 0) {
        return;
    }
    ttmem_cores mask{};
    for (const CoreRange& range : cores.ranges()) {
        ttmem_cores_add(&mask, static_cast<unsigned>(range.start_coord.x),
                        static_cast<unsigned>(range.start_coord.y), static_cast<unsigned>(range.end_coord.x),
                        static_cast<unsigned>(range.end_coord.y));
    }
    CircularBufferRecords::instance().add(set, current_program, current_layout, [&] {
        return ttmem_allocate_cb(set, current_program, address, size, &mask, global ? TTMEM_VIEW : 0u);
    });
}

void circular_buffers_freed(const IDevice* device) {
    if (current_program == 0) {
        return;
    }
    if (const ttmem_set set = set_of(device); set != 0) {
        CircularBufferRecords::instance().free(set, current_program);
    }
}

void kernel_loaded(uint64_t bytes, uint64_t program, uint8_t type, const IDevice* device) {
    if (const ttmem_set set = set_of(device); set != 0) {
        ttmem_load_kernel(set, program, static_cast<ttmem_kind>(TTMEM_KERNEL_APPLICATION + type), bytes);
    }
}

void program_ended(uint64_t program) {
    if (reporting()) {
        ttmem_program_gone(program);
    }
}

void out_of_memory(const Buffer* buffer, uint32_t tracking_set, uint64_t needed, uint64_t free,
                   uint64_t largest_free) {
    if (tracking_set == 0) {
        return;
    }
    ttmem_failed_request request{};
    request.failure.set = tracking_set;
    request.failure.kind = kind_of(buffer->buffer_type());
    request.failure.requested = buffer->size();
    request.failure.needed_per_bank = needed;
    request.failure.free_per_bank = free;
    request.failure.largest_free_per_bank = largest_free;
    request.page_bytes = buffer->page_size();
    request.banks =
        buffer->num_cores().value_or(buffer->device()->allocator()->get_num_banks(buffer->buffer_type()));
    request.direction = buffer->bottom_up() ? TTMEM_BOTTOM_UP : TTMEM_TOP_DOWN;
    ttmem_request_failed(&request);
}

void circular_buffers_clashed(uint64_t program, uint64_t size, uint64_t region_end,
                              std::optional<DeviceAddr> lowest_buffer, const CoreCoord& core,
                              const IDevice* device) {
    const ttmem_set set = set_of(device);
    if (set == 0) {
        return;
    }
    const AllocatorImpl& allocator = *device->allocator_impl();
    const auto describe = [&](auto& clash) {
        clash.set = set;
        clash.core_x = static_cast<uint16_t>(core.x);
        clash.core_y = static_cast<uint16_t>(core.y);
        clash.program = program;
        clash.requested = size;
        clash.cb_end = region_end;
        clash.free_per_bank = allocator.get_statistics(BufferType::L1).total_free_bytes;
    };
    if (!lowest_buffer) {
        ttmem_cb_overflow overflow{};
        describe(overflow);
        overflow.l1_end = device->l1_size_per_core();
        return ttmem_cb_overflowed(&overflow);
    }
    ttmem_cb_clash clash{};
    describe(clash);
    clash.lowest_buffer = *lowest_buffer;
    clash.blocker = allocator.tracking_handle_at(BufferType::L1, *lowest_buffer);
    ttmem_cb_clashed(&clash);
}

void buffer_on_a_core(const IDevice* device, uint64_t address, uint64_t bytes, uint64_t id) {
    if (const ttmem_set set = set_of(device); set != 0) {
        ttmem_allocate(set, TTMEM_L1 | TTMEM_PER_CORE, address, bytes, bytes, id);
    }
}

void refused_on_cores(const IDevice* device, uint32_t cores, uint64_t bytes_per_core, uint64_t free,
                      uint64_t largest_free) {
    ttmem_failed_request request{};
    request.failure = {.set = set_of(device),
                       .kind = TTMEM_L1,
                       .requested = cores * bytes_per_core,
                       .needed_per_bank = bytes_per_core,
                       .free_per_bank = free,
                       .largest_free_per_bank = largest_free};
    request.page_bytes = bytes_per_core;
    request.banks = cores;
    request.direction = TTMEM_TOP_DOWN;
    if (request.failure.set != 0) {
        ttmem_request_failed(&request);
    }
}

void scope_entered(std::string_view name) {
    if (reporting()) {
        ttmem_scope_push(std::string(name).c_str());
    }
}

void scope_left() {
    if (reporting()) {
        ttmem_scope_pop();
    }
}

}  // namespace tt::tt_metal::reporting
