// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "release.hpp"
#include "truth.hpp"

namespace tt::tt_metal {

namespace {

struct Pool {
    uint64_t base;
    uint64_t size;
    bool is_top_down;
};

// By kind, in one bank.
constexpr std::array<Pool, 5> kPools = {Pool{1'048'640, 4'194'304, false}, Pool{105'664, 1'310'720, true},
                                        Pool{0, 0, false}, Pool{105'664 + 1'310'720, 65'536, true},
                                        Pool{1'048'640 + 4'194'304, 131'072, false}};
constexpr uint32_t kDramBanks = 12;
constexpr uint32_t kL1BanksOfChip = 4;
constexpr uint64_t kAlignment = 32;

bool is_in_l1(BufferType type) { return type == BufferType::L1 || type == BufferType::L1_SMALL; }

}  // namespace

uint64_t Allocating::allocate_buffer(Buffer* buffer) {
#if HAS_PER_CORE_BUFFERS
    if (!buffer->per_core_addresses().empty()) {
        return buffer->per_core_addresses().begin()->second;  // not in the figures of the banks
    }
#endif
    const std::lock_guard lock(mutex_);
    const BufferType type = buffer->buffer_type();
    const auto kind = static_cast<size_t>(type);
    uint64_t size = (buffer->aligned_size_per_bank() + kAlignment - 1) / kAlignment * kAlignment;
#if defined(MUTATION_TAKES_MORE)
    size += kAlignment;
#endif
    const uint64_t base = kPools[kind].base;
    const uint64_t pool_size = kPools[kind].size;
    const bool is_top_down = kPools[kind].is_top_down;
    auto& live = live_[kind];
    // The lowest gap, or the highest.
    std::optional<uint64_t> found;
    uint64_t gap = base;
    const auto consider = [&](uint64_t end) {
        if (end - gap >= size && (is_top_down || !found)) {
            found = is_top_down ? end - size : gap;
        }
    };
    for (const auto& [address, block] : live) {
        consider(address);
        gap = address + block.size;
    }
    consider(base + pool_size);
    if (!found || (type == BufferType::L1 && *found < l1_limit)) {
        uint64_t used = 0;
        uint64_t largest = 0;
        gap = base;
        for (const auto& [address, block] : live) {
            used += block.size;
            largest = std::max(largest, address - gap);
            gap = address + block.size;
        }
        largest = std::max(largest, base + pool_size - gap);
        truth::add_failure("no room for kind " + std::to_string(kind) + " requested " +
                           std::to_string(buffer->size()) + " needed " + std::to_string(size) + " free " +
                           std::to_string(pool_size - used) + " largest " + std::to_string(largest));
        throw std::runtime_error(found ? "Out of Memory: Cannot allocate at an address below " +
                                             std::to_string(l1_limit) + ". Allocation at " +
                                             std::to_string(*found)
                                       : "there is no room for a buffer");
    }
    live[*found] = {size, buffer};
    return *found;
}

void Allocating::deallocate_buffer(Buffer* buffer) {
    const std::lock_guard lock(mutex_);
    live_[static_cast<size_t>(buffer->buffer_type())].erase(buffer->address());
}

void Allocating::deallocate_buffers() { free_all(); }

void Allocating::free_all() {
    const std::lock_guard lock(mutex_);
    for (auto& live : live_) {
        for (const auto& [address, block] : live) {
            block.buffer->lose_memory();
            truth::remove(block.buffer);
        }
        live.clear();
    }
}

#if HAS_ALLOCATOR_VIEW
void AllocatorImpl::override_state(const AllocatorState& /*state*/) { free_all(); }
#endif

std::optional<uint64_t> Allocating::lowest_l1() const {
    const std::lock_guard lock(mutex_);
    const auto& live = live_[static_cast<size_t>(BufferType::L1)];
    return live.empty() ? std::nullopt : std::optional(live.begin()->first);
}

const Buffer* Allocating::lowest_l1_buffer() const {
    const std::lock_guard lock(mutex_);
    const auto& live = live_[static_cast<size_t>(BufferType::L1)];
    return live.empty() ? nullptr : live.begin()->second.buffer;
}

void validate_region(uint64_t program, const char* type, const CoreRange& cores, uint64_t end,
                     const IDevice* device, bool on_sub_device) {
#if HAS_ALLOCATOR_VIEW
    const auto& allocator = on_sub_device ? device->allocator_impl(SubDeviceId{1}) : device->allocator_impl();
#else
    const auto& allocator = on_sub_device ? device->allocator(SubDeviceId{1}) : device->allocator();
#endif
    const auto number = [](uint64_t value) { return std::to_string(value); };
    const auto& [first, last] = cores;
    const std::string range = RELEASE < 7600 ? "[(x=" + number(first.x) + ",y=" + number(first.y) +
                                                   ") - (x=" + number(last.x) + ",y=" + number(last.y) + ")]"
                                             : "[" + number(first.x) + "-" + number(first.y) + " - " +
                                                   number(last.x) + "-" + number(last.y) + "]";
    const std::string clash = "clash of program " + number(program) + " on " + number(first.x) + "," +
                              number(first.y) + " ends " + number(end) + " lowest ";
    const std::string buffers = std::string("Statically allocated ") + type + " buffers ";
    const uint64_t l1_end = device->l1_size_per_core();
    if (end > l1_end) {
        truth::add_failure(clash + number(l1_end));
        throw std::runtime_error(buffers + "on core range " + range + " grow to " + number(end) +
                                 " B which is beyond max L1 size of " + number(l1_end) + " B");
    }
    const Buffer* const buffer = allocator->lowest_l1_buffer();
    if (buffer != nullptr && buffer->address() < end) {
        truth::add_failure(clash + number(buffer->address()) + " in the way 1 of " + number(buffer->size()) +
                           " buffer " + number(buffer->unique_id()));
        throw std::runtime_error(buffers + "in program " + number(program) +
                                 " clash with L1 buffers on core range " + range +
                                 ". L1 buffer allocated at " + number(buffer->address()) + " and static " +
                                 type + " buffer region ends at " + number(end));
    }
}

// As a segment has a chip: each pool with all of its figures.
std::string chip_text(int chip) {
    std::string text = "chip " + std::to_string(chip) + " ASIC " +
                       std::to_string(HAS_ASIC_IDS ? 0xA51C0000u + static_cast<uint32_t>(chip) : 0u) +
                       " arch 2 grid 2x2";
    for (const BufferType type :
         {BufferType::DRAM, BufferType::L1, BufferType::L1_SMALL, BufferType::TRACE}) {
        const Pool& pool = kPools[static_cast<size_t>(type)];
        const uint64_t banks = is_in_l1(type) ? kL1BanksOfChip : kDramBanks;
        text += " | base " + std::to_string(pool.base) + " size " + std::to_string(pool.size) + " banks " +
                std::to_string(banks) + " capacity " + std::to_string(pool.size * banks) + " alignment " +
                std::to_string(kAlignment) + (pool.is_top_down ? " top down" : " bottom up");
    }
    return text;
}

uint32_t Allocating::get_num_banks(const BufferType& type) const {
    return is_in_l1(type) ? l1_banks_ : kDramBanks;
}

uint64_t Allocating::get_base_allocator_addr(const HalMemType& type) const {
    return kPools[type == HalMemType::L1 ? 1 : 0].base;
}

uint32_t Allocating::get_alignment(BufferType type) const { return is_in_l1(type) ? 16 : kAlignment; }

Statistics Allocating::get_statistics(const BufferType& type) const {
    const std::lock_guard lock(mutex_);
    const Pool& pool = kPools[static_cast<size_t>(type)];
    Statistics result;
    result.total_allocatable_size_bytes = pool.size;
    uint64_t gap = pool.base;
    const auto consider = [&](uint64_t end) {
        result.largest_free_block_bytes = std::max<size_t>(result.largest_free_block_bytes, end - gap);
    };
    for (const auto& [address, block] : live_[static_cast<size_t>(type)]) {
        result.total_allocated_bytes += block.size;
        consider(address);
        gap = address + block.size;
    }
    consider(pool.base + pool.size);
    result.total_free_bytes = pool.size - result.total_allocated_bytes;
#if HAS_STATISTICS_VECTOR
    result.largest_free_block_addrs.push_back(7);
#endif
    return result;
}

}  // namespace tt::tt_metal
