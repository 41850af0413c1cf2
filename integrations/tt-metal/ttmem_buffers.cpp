// SPDX-License-Identifier: Apache-2.0

// Buffers: every allocation and free, bulk frees, out of memory.

#include <algorithm>
#include <stdexcept>
#include <string>
#include <tt-metalium/allocator.hpp>
#include <tt-metalium/buffer.hpp>
#include <tt-metalium/device.hpp>
#include <tt-metalium/experimental/per_core_allocation/buffer.hpp>

#include "impl/allocator/allocator.hpp"
#include "impl/allocator/allocator_state.hpp"
#include "ttmem_state.hpp"

#if __has_include(<tt-metalium/experimental/allocation_context.hpp>)
#include <tt-metalium/experimental/allocation_context.hpp>
#define TTMEM_HAS_CONTEXTS 1
#else
#define TTMEM_HAS_CONTEXTS 0
#endif

namespace tt::tt_metal::ttmem_reporter {

namespace {

bool is_per_core(const Buffer* buffer) {
    return experimental::per_core_allocation::is_per_core_allocation(*buffer);
}

// What the allocator takes for it in one bank: it rounds up to the alignment of DRAM in every pool.
uint64_t bytes_per_bank(const Buffer* buffer) {
    return round_to(buffer->aligned_size_per_bank(), buffer->allocator()->get_alignment(BufferType::DRAM));
}

// Of the allocator that gives the memory: that of a sub-device has fewer.
uint64_t banks_of(const Buffer* buffer) {
    return is_per_core(buffer) ? experimental::per_core_allocation::get_per_core_addresses(*buffer).size()
                               : buffer->allocator()->get_num_banks(buffer->buffer_type());
}

// The buffer counts its pages in 32 bits, too few for some sizes that must be refused.
uint64_t needed_per_bank(const Buffer* buffer) {
    const uint64_t page_size = buffer->page_size();
    const uint64_t banks = buffer->allocator()->get_num_banks(buffer->buffer_type());
    if (buffer->buffer_layout() != TensorMemoryLayout::INTERLEAVED || page_size == 0 || banks == 0) {
        return bytes_per_bank(buffer);
    }
    const uint64_t pages = (buffer->size() / page_size + banks - 1) / banks;
    return round_to(pages * buffer->aligned_page_size(),
                    buffer->allocator()->get_alignment(BufferType::DRAM));
}

// The name that the runtime itself gives to what it allocates now, where it says more than the op around.
class ContextScope {
public:
    ContextScope() {
#if TTMEM_HAS_CONTEXTS
        if (!trace_allocation_tracking_enabled()) {
            return;  // it then keeps none
        }
        const std::string& context = current_allocation_context();
        const bool is_special = context.starts_with("program_cache:") || context == "trace_storage";
        is_open_ = !context.empty() && (is_special || thread_data.scopes == 0);
        if (is_open_) {
            ttmem_scope_push(context.c_str());
        }
#endif
    }
    ~ContextScope() {
        if (is_open_) {
            ttmem_scope_pop();
        }
    }
    ContextScope(const ContextScope&) = delete;
    ContextScope& operator=(const ContextScope&) = delete;

private:
    bool is_open_ = false;
};

void free_region(State& state, const Buffer* buffer) {
    const std::lock_guard lock(state.mutex);
    const auto region =
        state.regions.find({buffer->allocator(), {kind_of(buffer->buffer_type()), buffer->address()}});
    if (region != state.regions.end()) {
        ttmem_free(region->second.handle);
        state.regions.erase(region);
        state.region_count.store(state.regions.size(), std::memory_order_relaxed);
    }
}

using Range = std::pair<uint64_t, uint64_t>;            // of addresses in a bank
using Ranges = std::map<uint32_t, std::vector<Range>>;  // by kind

// Returns where it was.
Ranges free_all_of(State& state, const AllocatorImpl* allocator) {
    const void* const view = allocator->view().get();
    Ranges freed;
    state.buffers.erase_if([&](const BufferRecord& record) {
        if (record.allocator != view) {
            return false;
        }
        ttmem_free(record.handle);
        freed[record.kind].emplace_back(record.address, record.address + record.bytes_per_bank);
        return true;
    });
    const std::lock_guard lock(state.mutex);
    std::erase_if(state.regions, [&](const auto& entry) {
        if (entry.first.first != view) {
            return false;
        }
        const auto& [kind, start] = entry.first.second;
        freed[kind].emplace_back(start, entry.second.end);
        ttmem_free(entry.second.handle);
        return true;
    });
    state.region_count.store(state.regions.size(), std::memory_order_relaxed);
    for (auto& [kind, ranges] : freed) {
        std::sort(ranges.begin(), ranges.end());
    }
    return freed;
}

// The open device that this allocator belongs to.
const IDevice* device_of(State& state, const AllocatorImpl* allocator) {
    std::vector<const IDevice*> devices;
    {
        const std::lock_guard lock(state.mutex);
        for (const auto& [device, open] : state.sets) {
            devices.push_back(device);
        }
    }
    const auto found = std::find_if(devices.begin(), devices.end(), [&](const IDevice* device) {
        return device->is_initialized() && device->allocator_impl().get() == allocator;
    });
    return found != devices.end() ? *found : nullptr;
}

// The sets that have a chip of the device; all sets, if the device is not known.
std::vector<ttmem_set> sets_with_chips_of(State& state, const IDevice* device) {
    const std::vector<IDevice*> chips = device != nullptr ? chips_of(device) : std::vector<IDevice*>();
    std::vector<ttmem_set> sets;
    const std::lock_guard lock(state.mutex);
    for (const auto& [of, open] : state.sets) {
        if (device == nullptr || std::find_first_of(open.chips.begin(), open.chips.end(), chips.begin(),
                                                    chips.end()) != open.chips.end()) {
            sets.push_back(open.set);
        }
    }
    return sets;
}

// What the live buffers of other allocators hold in a bank, by address.
std::vector<Range> held_by_others(State& state, const AllocatorImpl* allocator, const IDevice* device,
                                  BufferType type) {
    const std::vector<ttmem_set> sets = sets_with_chips_of(state, device);
    std::vector<Range> held;
    state.buffers.erase_if([&](const BufferRecord& record) {
        if (record.kind == kind_of(type) && record.allocator != nullptr &&
            record.allocator != allocator->view().get() &&
            std::find(sets.begin(), sets.end(), record.set) != sets.end()) {
            held.emplace_back(record.address, record.address + record.bytes_per_bank);
        }
        return false;
    });
    std::sort(held.begin(), held.end());
    return held;
}

// The parts of `range` that are in none of `others`, which are sorted.
std::vector<Range> without(Range range, const std::vector<Range>& others) {
    std::vector<Range> rest;
    for (const auto& [start, end] : others) {
        if (start >= range.second || range.first >= range.second) {
            break;
        }
        if (start > range.first) {
            rest.emplace_back(range.first, start);
        }
        range.first = std::max(range.first, end);
    }
    if (range.first < range.second) {
        rest.push_back(range);
    }
    return rest;
}

// What the allocator holds after its state was replaced, and no buffer accounts for. The memory of other allocators, as a
// mesh takes it over from its submeshes (synchronize_allocator_state), counts in these, but for what the allocator held
// itself before: allocators of one chip may have given out the same addresses.
void record_regions(State& state, const AllocatorImpl* allocator, Ranges before) {
    const AllocatorState now = allocator->extract_state();
    const IDevice* const device = device_of(state, allocator);
    for (const BufferType type : kPools) {
        std::vector<Range> others;
        for (const Range& held : held_by_others(state, allocator, device, type)) {
            const std::vector<Range> rest = without(held, before[kind_of(type)]);
            others.insert(others.end(), rest.begin(), rest.end());
        }
        for (const Range& region : now.get_allocated_regions(type)) {
            for (const auto& [start, end] : without(region, others)) {
                if (device == nullptr) {
                    throw std::runtime_error("the allocator of an unknown device has a new state");
                }
                const uint64_t bytes = (end - start) * allocator->get_num_banks(type);
                ttmem_scope_push("allocator state");
                const ttmem_handle handle =
                    ttmem_allocate(set_of(state, device), kind_of(type), start, bytes, bytes, 0);
                ttmem_scope_pop();
                const std::lock_guard lock(state.mutex);
                state.regions[{allocator->view().get(), {kind_of(type), start}}] = {handle, end};
                state.region_count.store(state.regions.size(), std::memory_order_relaxed);
            }
        }
    }
}

void report_out_of_memory(State& state, const AllocatorImpl* allocator, const Buffer* buffer) {
    const Statistics now = allocator->get_statistics(buffer->buffer_type());
    ttmem_failed_request request{};
    ttmem_out_of_memory& failure = request.failure;
    failure.set = set_of(state, buffer->device());
    failure.kind = kind_of(buffer->buffer_type());
    failure.requested = buffer->size();
    failure.needed_per_bank = needed_per_bank(buffer);
    failure.free_per_bank = now.total_free_bytes;
    failure.largest_free_per_bank = now.largest_free_block_bytes;
    const bool is_interleaved = buffer->buffer_layout() == TensorMemoryLayout::INTERLEAVED;
    request.page_bytes = buffer->page_size();
    request.banks = is_interleaved        ? allocator->get_num_banks(buffer->buffer_type())
                    : is_per_core(buffer) ? 0
                                          : buffer->num_cores().value_or(0);
    request.direction = buffer->bottom_up() ? TTMEM_BOTTOM_UP : TTMEM_TOP_DOWN;
    if (failure.needed_per_bank > failure.largest_free_per_bank) {  // else it failed for another reason
        ttmem_request_failed(&request);
    }
}

}  // namespace

void allocated(const Buffer* buffer) noexcept {
    report([&](State& state) {
        // A buffer that no allocator gave memory to is hooked by a graph capture.
        const bool is_planned = std::exchange(thread_data.allocated, nullptr) != buffer;
        BufferRecord record{.buffer = buffer, .address = buffer->address()};
        record.set = set_of(state, buffer->device());
        record.kind = kind_of(buffer->buffer_type());
        record.allocator = is_planned ? nullptr : buffer->allocator();
        uint64_t reserved = 0;
        if (buffer->buffer_type() != BufferType::SYSTEM_MEMORY) {
            record.bytes_per_bank = bytes_per_bank(buffer);
            reserved = record.bytes_per_bank * banks_of(buffer);
        }
        const ContextScope context;
        const uint32_t flags = (is_planned ? TTMEM_PLANNED : 0u) |
                               (record.kind == TTMEM_L1 && is_per_core(buffer) ? TTMEM_PER_CORE : 0u);
        record.handle = ttmem_allocate(record.set, record.kind | flags, record.address, buffer->size(),
                                       reserved, buffer->unique_id());
        if (const BufferRecord before = state.buffers.put(record); before.buffer != nullptr) {
            ttmem_free(before.handle);
        }
    });
}

void freed(const Buffer* buffer) noexcept {
    report([&](State& state) {
        if (const BufferRecord record = state.buffers.take(buffer); record.buffer != nullptr) {
            ttmem_free(record.handle);
        } else if (state.region_count.load(std::memory_order_relaxed) != 0) {
            free_region(state, buffer);
        }
    });
}

void all_freed(const AllocatorImpl* allocator) noexcept {
    report([&](State& state) { free_all_of(state, allocator); });
}

// The first buffer of each kind is measured: if the allocator takes another size than this file computes, nothing is
// reported from then on. No buffer of the kind was freed before, so with the lock nothing disturbs the comparison.
AllocationGuard::AllocationGuard(const AllocatorImpl* allocator, const Buffer* buffer) noexcept
    : allocator_(allocator), buffer_(buffer) {
    const uint32_t kind = kind_of(buffer->buffer_type());
    if (!is_on() || (thread_data.measured >> kind & 1) != 0) {
        return;
    }
    report([&](State& state) {
        FirstOfKind& first = state.first.at(kind);
        if (first.is_measured.load(std::memory_order_acquire)) {
            thread_data.measured |= 1u << kind;
            return;
        }
        if (is_per_core(buffer) || buffer->size() == 0) {
            return;
        }
        std::unique_lock lock(first.mutex);
        if (!first.is_measured.load(std::memory_order_relaxed)) {
            allocated_before_ = allocator->get_statistics(buffer->buffer_type()).total_allocated_bytes;
            lock.release();  // the destructor unlocks it
            is_measured_ = true;
        }
    });
}

AllocationGuard::~AllocationGuard() {
    if (is_measured_) {
        end_measurement();
    }
    if (has_succeeded()) {
        thread_data.allocated = buffer_;
    } else if (has_failed()) {
        report_if_possible([&](State& state) { report_out_of_memory(state, allocator_, buffer_); });
    }
}

void AllocationGuard::end_measurement() noexcept {
    FirstOfKind& first = process_state().first[kind_of(buffer_->buffer_type())];
    const std::unique_lock lock(first.mutex, std::adopt_lock);
    if (!has_succeeded()) {
        return;
    }
    report([&](State&) {
        const BufferType type = buffer_->buffer_type();
        const uint64_t taken = allocator_->get_statistics(type).total_allocated_bytes - allocated_before_;
        first.is_measured.store(true, std::memory_order_release);
        if (taken != bytes_per_bank(buffer_)) {
            throw std::runtime_error("a buffer of kind " + std::to_string(kind_of(type)) + " takes " +
                                     std::to_string(taken) + " bytes in a bank, not " +
                                     std::to_string(bytes_per_bank(buffer_)));
        }
    });
}

StateGuard::StateGuard(const AllocatorImpl* allocator) noexcept : allocator_(allocator) {}
StateGuard::~StateGuard() {
    report([&](State& state) { record_regions(state, allocator_, free_all_of(state, allocator_)); });
}

}  // namespace tt::tt_metal::ttmem_reporter
