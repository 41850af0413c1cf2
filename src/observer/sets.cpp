// SPDX-License-Identifier: Apache-2.0
#include "observer/sets.hpp"

#include <algorithm>
#include <mutex>
#include <stdexcept>
#include <string>

#include "client/other_segment.hpp"
#include "observer/notice.hpp"
#include "observer/thread_data.hpp"

namespace ttmem::observer {

namespace {

// The runtime numbers kinds of buffers and architectures as ttmem does, newer ones included.
constexpr std::array<uint32_t, 4> kPools = {TTMEM_DRAM, TTMEM_L1, TTMEM_L1_SMALL, TTMEM_TRACE};
constexpr uint8_t kL1Memory = 0;
constexpr uint8_t kDramMemory = 1;

uint32_t known_arch(uint32_t arch) {
    constexpr uint32_t kInvalid = 0xff;
    return arch == kInvalid ? TTMEM_ARCH_UNKNOWN : arch;
}

// One pool lies above the other: L1_SMALL above L1, TRACE above DRAM.
void describe_memory(const Metal& metal, const metal::Allocator* allocator, ttmem_device_info& info) {
    const uint32_t alignment = metal.allocator_alignment(allocator, TTMEM_DRAM);
    for (const uint32_t kind : kPools) {
        const bool is_l1 = is_kind_in_l1(kind);
        ttmem_memory_info& memory = info.memory[kind];
        memory.banks = metal.allocator_banks(allocator, static_cast<int>(kind));
        memory.size_per_bank = metal.statistics_of(allocator, kind).size;
        memory.capacity = memory.size_per_bank * memory.banks;
        memory.alignment = alignment;
        memory.direction = is_l1 ? TTMEM_TOP_DOWN : TTMEM_BOTTOM_UP;
        memory.base = metal.allocator_base(allocator, is_l1 ? kL1Memory : kDramMemory);
    }
    info.memory[TTMEM_L1_SMALL].base += info.memory[TTMEM_L1].size_per_bank;
    info.memory[TTMEM_TRACE].base += info.memory[TTMEM_DRAM].size_per_bank;
}

}  // namespace

uint64_t Sets::asic_id_of(const metal::IDevice* chip) const {
    if (metal_.fabric_node == nullptr || metal_.asic_of_node == nullptr) {
        return 0;
    }
    try {
        return metal_.asic_of_node(metal_.fabric_node(metal_.id_of(chip)));
    } catch (...) {
        return 0;  // the chip is in no fabric: its number identifies it
    }
}

ttmem_device Sets::register_chip(const metal::IDevice* chip) const {
    ttmem_device_info info{};
    info.asic_id = asic_id_of(chip);
    info.logical_id = static_cast<uint32_t>(metal_.id_of(chip));
    info.arch = known_arch(metal_.arch_of(chip));
    const CorePosition grid = metal_.grid_of(chip);
    info.grid_x = static_cast<uint16_t>(grid.x);
    info.grid_y = static_cast<uint16_t>(grid.y);
    try {
        if (const metal::Allocator* allocator = metal_.allocator_of(chip)) {
            describe_memory(metal_, allocator, info);
        }
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

// The last device of a thread is mostly the next one too. The state is read before the set: a set that is closed
// meanwhile changes the state.
std::optional<ObservedSet> Sets::of(const metal::IDevice* device) {
    ThreadData& data = thread_data();
    const uint64_t state = this->state();
    if (data.last_device == device && data.last_state == state) {
        return data.last_set;
    }
    if (const auto set = known(device)) {
        data.last_device = device;
        data.last_set = *set;
        data.last_state = state;
        return set;
    }
    return is_disabled() ? std::nullopt : open(device);
}

uint64_t Sets::next_state() {
    static uint64_t states = 0;
    return __atomic_add_fetch(&states, 1, __ATOMIC_RELAXED);
}

void Sets::change_state() { __atomic_store_n(&state_, next_state(), __ATOMIC_RELEASE); }

std::optional<ObservedSet> Sets::open(const metal::IDevice* device) {
    find_other_reporter();
    if (is_disabled()) {
        return std::nullopt;
    }
    if (!metal_.is_mesh(device) && !metal_.is_chip(device)) {
        throw std::runtime_error("it allocates on a device that is neither a chip nor a mesh");
    }
    // Query the runtime without our lock, so that its locks never wait for ours.
    std::vector<ttmem_device> members;
    std::vector<metal::IDevice*> chips = metal_.chips_of(device);
    members.reserve(chips.size());
    for (const metal::IDevice* chip : chips) {
        members.push_back(register_chip(chip));
    }
    const metal::Allocator* allocator = metal_.allocator_of(device);
    if (allocator == nullptr) {
        return std::nullopt;  // the device is not open
    }
    ObservedSet set;
    set.rounding = metal_.allocator_alignment(allocator, TTMEM_DRAM);
    for (const uint32_t kind : kPools) {
        set.banks[kind] = metal_.allocator_banks(allocator, static_cast<int>(kind));
    }
    const auto shape = metal_.shape_of(device);
    const std::string label =
        (metal_.is_mesh(device) ? "mesh " : "device ") + std::to_string(metal_.id_of(device));

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
        change_state();
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
    if (!closed.empty()) {
        change_state();
    }
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
        ttmem_stop_reporting();
        close_all();
        notice(why);
    }
}

void Sets::close_all() {
    is_disabled_ = true;
    change_state();
    for (const auto& [device, open] : sets_) {
        ttmem_close_set(open.set.set);
    }
    sets_.clear();
    forget_();
}

bool Sets::is_disabled() const {
    const std::shared_lock lock(mutex_);
    return is_disabled_;
}

}  // namespace ttmem::observer
