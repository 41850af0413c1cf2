// SPDX-License-Identifier: Apache-2.0
#include "observer/sets.hpp"

#include <algorithm>
#include <mutex>
#include <string>

#include "client/other_segment.hpp"
#include "observer/notice.hpp"

namespace ttmem::observer {

namespace {

using metal::BufferType;
using metal::HalMemType;

constexpr std::array kPools = {BufferType::DRAM, BufferType::L1, BufferType::L1_SMALL, BufferType::TRACE};
static_assert(static_cast<int>(BufferType::DRAM) == TTMEM_DRAM &&
              static_cast<int>(BufferType::L1) == TTMEM_L1 &&
              static_cast<int>(BufferType::SYSTEM_MEMORY) == TTMEM_SYSTEM_MEMORY &&
              static_cast<int>(BufferType::L1_SMALL) == TTMEM_L1_SMALL &&
              static_cast<int>(BufferType::TRACE) == TTMEM_TRACE);

uint32_t arch_of(tt::ARCH arch) {
    switch (arch) {
        case tt::ARCH::WORMHOLE_B0:
            return TTMEM_ARCH_WORMHOLE_B0;
        case tt::ARCH::BLACKHOLE:
            return TTMEM_ARCH_BLACKHOLE;
        default:
            return TTMEM_ARCH_UNKNOWN;
    }
}

// One pool lies above the other: L1_SMALL above L1, TRACE above DRAM.
void describe_memory(const Metal& metal, const metal::Allocator* allocator, ttmem_device_info& info) {
    const uint32_t alignment = metal.allocator_alignment(allocator, BufferType::DRAM);
    for (const BufferType type : kPools) {
        const bool is_l1 = type == BufferType::L1 || type == BufferType::L1_SMALL;
        const metal::Statistics statistics = metal.allocator_statistics(allocator, type);
        ttmem_memory_info& memory = info.memory[static_cast<size_t>(type)];
        memory.banks = metal.allocator_banks(allocator, type);
        memory.size_per_bank = statistics.total_allocatable_size_bytes;
        memory.capacity = memory.size_per_bank * memory.banks;
        memory.alignment = alignment;
        memory.direction = is_l1 ? TTMEM_TOP_DOWN : TTMEM_BOTTOM_UP;
        memory.base = metal.allocator_base(allocator, is_l1 ? HalMemType::L1 : HalMemType::DRAM);
    }
    for (const auto& [upper, lower] :
         {std::pair(BufferType::L1_SMALL, BufferType::L1), std::pair(BufferType::TRACE, BufferType::DRAM)}) {
        info.memory[static_cast<size_t>(upper)].base += info.memory[static_cast<size_t>(lower)].size_per_bank;
    }
}

}  // namespace

uint64_t Sets::asic_id_of(const metal::IDevice* chip) const {
    if (metal_.fabric_node == nullptr || metal_.asic_of_node == nullptr) {
        return 0;
    }
    try {
        return *metal_.asic_of_node(metal_.fabric_node(chip->id()));
    } catch (...) {
        return 0;  // the chip is in no fabric: its number identifies it
    }
}

ttmem_device Sets::register_chip(const metal::IDevice* chip) const {
    ttmem_device_info info{};
    info.asic_id = asic_id_of(chip);
    info.logical_id = static_cast<uint32_t>(chip->id());
    info.arch = arch_of(chip->arch());
    const metal::CoreCoord grid = chip->compute_with_storage_grid_size();
    info.grid_x = static_cast<uint16_t>(grid.x);
    info.grid_y = static_cast<uint16_t>(grid.y);
    try {
        describe_memory(metal_, chip->allocator().get(), info);
    } catch (...) {
        for (ttmem_memory_info& memory : info.memory) {
            memory = {};  // unknown
        }
    }
    return ttmem_register_device(&info);
}

std::optional<ObservedSet> Sets::known(const metal::IDevice* device) const {
    const std::shared_lock lock(mutex_);
    const auto found = sets_.find(device);
    return found != sets_.end() && !is_disabled_ ? std::optional(found->second.set) : std::nullopt;
}

std::optional<ObservedSet> Sets::of(const metal::IDevice* device) {
    if (auto set = known(device)) {
        return set;
    }
    return is_disabled() ? std::nullopt : open(device);
}

std::optional<ObservedSet> Sets::open(const metal::IDevice* device) {
    find_other_reporter();
    if (is_disabled()) {
        return std::nullopt;
    }
    // Query the runtime without our lock, so that its locks never wait for ours.
    std::vector<ttmem_device> members;
    std::vector<metal::IDevice*> chips = metal_.chips_of(device);
    members.reserve(chips.size());
    for (const metal::IDevice* chip : chips) {
        members.push_back(register_chip(chip));
    }
    const metal::Allocator* allocator = device->allocator().get();
    ObservedSet set;
    set.rounding = metal_.allocator_alignment(allocator, BufferType::DRAM);
    for (const BufferType type : kPools) {
        set.banks[static_cast<size_t>(type)] = metal_.allocator_banks(allocator, type);
    }
    const auto shape = metal_.shape_of(device);
    const std::string label = (metal_.is_mesh(device) ? "mesh " : "device ") + std::to_string(device->id());

    const std::unique_lock lock(mutex_);
    if (is_disabled_) {
        return std::nullopt;
    }
    const auto [place, is_new] = sets_.try_emplace(device, OpenSet{set, std::move(chips)});
    if (is_new) {
        place->second.set.set =
            ttmem_open_set(members.data(), static_cast<uint32_t>(members.size()), label.c_str());
        if (shape) {
            ttmem_describe_mesh(place->second.set.set, shape->first, shape->second);
        }
        opened_ = true;
    }
    return place->second.set;
}

std::vector<Sets::ClosedSet> Sets::close(const metal::IDevice* device) {
    const std::unique_lock lock(mutex_);
    std::vector<ClosedSet> closed;
    std::erase_if(sets_, [&](const auto& entry) {
        const auto& [of, open] = entry;
        if (of != device && std::find(open.chips.begin(), open.chips.end(), device) == open.chips.end()) {
            return false;
        }
        ttmem_close_set(open.set.set);
        closed.push_back({of, open.set.set});
        return true;
    });
    return closed;
}

void Sets::find_other_reporter() {
    const std::unique_lock lock(mutex_);
    if (!is_disabled_ && client::count_own_segments() > (opened_ ? 1u : 0u)) {
        close_all();
    }
}

void Sets::disable(const char* why) {
    const std::unique_lock lock(mutex_);
    if (!is_disabled_) {
        close_all();
        notice(why);
    }
}

void Sets::close_all() {
    is_disabled_ = true;
    for (const auto& [device, open] : sets_) {
        ttmem_close_set(open.set.set);
    }
    sets_.clear();
}

bool Sets::is_disabled() const {
    const std::shared_lock lock(mutex_);
    return is_disabled_;
}

}  // namespace ttmem::observer
