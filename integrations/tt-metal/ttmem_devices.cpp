// SPDX-License-Identifier: Apache-2.0

// The sets of devices that the reporter knows.

#include <pthread.h>

#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <tt-metalium/core_coord.hpp>
#include <tt-metalium/device.hpp>
#include <tt-metalium/mesh_device.hpp>

#include "impl/allocator/allocator.hpp"
#include "impl/context/metal_context.hpp"
#include "impl/device/device_impl.hpp"
#include "llrt/tt_cluster.hpp"
#include "ttmem_state.hpp"

namespace tt::tt_metal::ttmem_reporter {

using distributed::MeshDevice;

thread_local constinit ThreadData thread_data;

namespace {

// Never destroyed. A forked child starts anew, as libttmem does: the parent's records are not in its segment.
State*& state_pointer() {
    static State* state = [] {
        pthread_atfork(nullptr, nullptr, [] {
            state_pointer() = new State;
            thread_data = {};
        });
        return new State;
    }();
    return state;
}

}  // namespace

State& process_state() { return *state_pointer(); }

void stop(State& state, std::string_view reason) noexcept {
    if (state.is_stopped.exchange(true)) {
        return;
    }
    {
        const std::lock_guard lock(state.mutex);
        ttmem_stop_reporting();
        for (const auto& [device, open] : state.sets) {
            ttmem_close_set(open.set);
        }
    }
    const std::string_view line = reason.substr(0, std::min<size_t>(reason.find('\n'), 200));
    std::fprintf(stderr, "ttmem: tt-metal's memory is no longer reported: %.*s\n",
                 static_cast<int>(line.size()), line.data());
}

std::vector<IDevice*> chips_of(const IDevice* device) {
    if (const auto* const mesh = dynamic_cast<const MeshDevice*>(device)) {
        return mesh->get_devices();
    }
    if (dynamic_cast<const Device*>(device) == nullptr) {
        throw std::runtime_error("it allocates on a device that is neither a chip nor a mesh");
    }
    return {const_cast<IDevice*>(device)};
}

namespace {

// The numbers are the same.
static_assert(static_cast<uint32_t>(tt::ARCH::WORMHOLE_B0) == TTMEM_ARCH_WORMHOLE_B0 &&
              static_cast<uint32_t>(tt::ARCH::BLACKHOLE) == TTMEM_ARCH_BLACKHOLE);
uint32_t arch_of(const IDevice* chip) {
    constexpr uint32_t kInvalid = 0xff;
    const auto arch = static_cast<uint32_t>(chip->arch());
    return arch == kInvalid ? TTMEM_ARCH_UNKNOWN : arch;
}

uint64_t asic_id_of(const IDevice* chip) {
    const auto& ids = MetalContext::instance(extract_context_id(chip)).get_cluster().get_unique_chip_ids();
    const auto id = ids.find(chip->id());
    return id != ids.end() ? id->second : 0;
}

// One pool lies above the other: L1_SMALL above L1, TRACE above DRAM.
void describe_memory(const AllocatorImpl& allocator, ttmem_device_info& info) {
    for (const BufferType type : kPools) {
        const bool is_l1 = type == BufferType::L1 || type == BufferType::L1_SMALL;
        ttmem_memory_info& memory = info.memory[kind_of(type)];
        memory.banks = allocator.get_num_banks(type);
        memory.size_per_bank = allocator.get_statistics(type).total_allocatable_size_bytes;
        memory.capacity = memory.size_per_bank * memory.banks;
        memory.alignment = allocator.get_alignment(BufferType::DRAM);
        memory.direction = is_l1 ? TTMEM_TOP_DOWN : TTMEM_BOTTOM_UP;
        memory.base = allocator.get_base_allocator_addr(is_l1 ? HalMemType::L1 : HalMemType::DRAM);
    }
    info.memory[TTMEM_L1_SMALL].base += info.memory[TTMEM_L1].size_per_bank;
    info.memory[TTMEM_TRACE].base += info.memory[TTMEM_DRAM].size_per_bank;
}

ttmem_device register_chip(const IDevice* chip) {
    ttmem_device_info info{};
    info.asic_id = asic_id_of(chip);
    info.logical_id = static_cast<uint32_t>(chip->id());
    info.arch = arch_of(chip);
    const CoreCoord grid = chip->compute_with_storage_grid_size();
    info.grid_x = static_cast<uint16_t>(grid.x);
    info.grid_y = static_cast<uint16_t>(grid.y);
    describe_memory(*chip->allocator_impl(), info);
    return ttmem_register_device(&info);
}

}  // namespace

// The runtime is asked without our lock.
ttmem_set find_set(State& state, const IDevice* device) {
    {
        const std::lock_guard lock(state.mutex);
        if (const auto known = state.sets.find(device); known != state.sets.end()) {
            return known->second.set;
        }
    }
    std::vector<IDevice*> chips = chips_of(device);
    std::vector<ttmem_device> members;
    for (const IDevice* chip : chips) {
        members.push_back(register_chip(chip));
    }
    const auto* const mesh = dynamic_cast<const MeshDevice*>(device);
    const std::string label = (mesh != nullptr ? "mesh " : "device ") + std::to_string(device->id());

    const std::lock_guard lock(state.mutex);
    OpenSet& open = state.sets[device];
    if (open.set == 0) {
        open.chips = std::move(chips);
        open.set = ttmem_open_set(members.data(), static_cast<uint32_t>(members.size()), label.c_str());
        if (mesh != nullptr && mesh->shape().dims() == 2) {
            ttmem_describe_mesh(open.set, mesh->shape()[0], mesh->shape()[1]);
        }
    }
    return open.set;
}

void close(State& state, const IDevice* device) {
    std::vector<std::pair<const IDevice*, ttmem_set>> closed;
    {
        const std::lock_guard lock(state.mutex);
        for (auto entry = state.sets.begin(); entry != state.sets.end();) {
            const auto& [of, open] = *entry;
            if (of == device || std::find(open.chips.begin(), open.chips.end(), device) != open.chips.end()) {
                ttmem_close_set(open.set);
                closed.emplace_back(of, open.set);
                entry = state.sets.erase(entry);
            } else {
                ++entry;
            }
        }
        state.version.fetch_add(1, std::memory_order_release);
    }
    for (const auto& [of, set] : closed) {
        state.buffers.erase_if([&](const BufferRecord& record) { return record.set == set; });
        state.programs.forget_device(of);
    }
}

OpeningGuard::OpeningGuard(const IDevice* chip) noexcept : chip_(chip) {}
OpeningGuard::~OpeningGuard() {
    if (has_succeeded()) {
        report([&](State& state) { set_of(state, chip_); });
    }
}

ClosingGuard::ClosingGuard(const IDevice* device) noexcept : device_(device) {}
ClosingGuard::~ClosingGuard() {
    if (has_succeeded()) {
        report([&](State& state) { close(state, device_); });
    }
}

}  // namespace tt::tt_metal::ttmem_reporter
