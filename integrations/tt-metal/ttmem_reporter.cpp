// SPDX-License-Identifier: Apache-2.0
#include "ttmem_reporter.hpp"

#include <pthread.h>
#include <ttmem/ttmem.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tt-metalium/allocator.hpp>
#include <tt-metalium/buffer.hpp>
#include <tt-metalium/core_coord.hpp>
#include <tt-metalium/device.hpp>
#include <tt-metalium/experimental/per_core_allocation/buffer.hpp>
#include <tt-metalium/mesh_command_queue.hpp>
#include <tt-metalium/mesh_device.hpp>
#include <tt-metalium/mesh_device_view.hpp>
#include <tt-metalium/mesh_workload.hpp>
#include <tt-metalium/program.hpp>
#include <tuple>
#include <utility>
#include <vector>

#include "impl/allocator/allocator.hpp"
#include "impl/allocator/allocator_state.hpp"
#include "impl/buffers/circular_buffer.hpp"
#include "impl/context/metal_context.hpp"
#include "impl/dataflow_buffer/dataflow_buffer_impl.hpp"
#include "impl/device/device_impl.hpp"
#include "impl/kernels/kernel.hpp"
#include "impl/program/program_impl.hpp"
#include "llrt/hal.hpp"
#include "llrt/tt_cluster.hpp"
#include "ttmem_records.hpp"

#if __has_include(<tt-metalium/experimental/allocation_context.hpp>)
#include <tt-metalium/experimental/allocation_context.hpp>
#define TTMEM_HAS_CONTEXTS 1
#else
#define TTMEM_HAS_CONTEXTS 0
#endif

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace tt::tt_metal::ttmem_reporter {

namespace {

using detail::ProgramImpl;
using distributed::MeshDevice;

// The numbers are the same, so that a buffer's type is its kind.
constexpr std::array<BufferType, 4> kPools = {BufferType::DRAM, BufferType::L1, BufferType::L1_SMALL,
                                              BufferType::TRACE};
constexpr size_t kKinds = 5;
constexpr uint32_t kind_of(BufferType type) { return static_cast<uint32_t>(type); }
static_assert(kind_of(BufferType::DRAM) == TTMEM_DRAM && kind_of(BufferType::L1) == TTMEM_L1 &&
              kind_of(BufferType::SYSTEM_MEMORY) == TTMEM_SYSTEM_MEMORY &&
              kind_of(BufferType::L1_SMALL) == TTMEM_L1_SMALL && kind_of(BufferType::TRACE) == TTMEM_TRACE);

uint64_t round_to(uint64_t value, uint64_t step) {
    return step == 0 ? value : (value + step - 1) / step * step;
}

// Without a destructor, because buffers are freed until the very end of a thread.
struct ThreadData {
    const Buffer* allocated = nullptr;     // the last buffer that an allocator gave memory to
    const ProgramImpl* program = nullptr;  // whose circular buffers are reported now
    uint64_t layout = 0;                   // and which of its layouts this is
    uint32_t scopes = 0;                   // ops around
    const IDevice* device = nullptr;       // the last device, with its set
    uint64_t device_version = 0;
    ttmem_set set = 0;
};
thread_local constinit ThreadData thread_data;

struct OpenSet {
    ttmem_set set = 0;
    std::vector<IDevice*> chips;
};

struct FirstOfKind {
    std::mutex mutex;
    std::atomic<bool> is_measured{false};
};

using RegionKey = std::pair<const void*, std::pair<uint32_t, uint64_t>>;  // allocator, kind, address

struct State {
    BufferRecords buffers;
    ProgramRecords programs;
    std::array<FirstOfKind, kKinds> first;

    std::mutex mutex;
    std::map<const IDevice*, OpenSet> sets;
    std::map<RegionKey, ttmem_handle> regions;  // memory without a buffer, from AllocatorImpl::override_state
    std::atomic<size_t> region_count{0};
    std::atomic<uint64_t> version{1};  // of `sets`, for the threads' copies
    std::atomic<bool> is_stopped{false};
};

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

// Closes everything, because what is shown is right or absent.
void stop(State& state, std::string_view reason) noexcept {
    if (state.is_stopped.exchange(true)) {
        return;
    }
    const std::lock_guard lock(state.mutex);
    for (const auto& [device, open] : state.sets) {
        ttmem_close_set(open.set);
    }
    const std::string_view line = reason.substr(0, std::min<size_t>(reason.find('\n'), 200));
    std::fprintf(stderr, "ttmem: tt-metal's memory is no longer reported: %.*s\n",
                 static_cast<int>(line.size()), line.data());
}

template <class Action>
void report(const Action& action) noexcept {
    if (ttmem_enabled() == 0) {
        return;
    }
    State& state = *state_pointer();
    if (state.is_stopped.load(std::memory_order_relaxed)) {
        return;
    }
    try {
        action(state);
    } catch (const std::exception& error) {
        stop(state, error.what());
    } catch (...) {
        stop(state, "a query to the runtime failed");
    }
}

// For facts whose absence makes no other wrong.
template <class Action>
void report_if_possible(const Action& action) noexcept {
    report([&](State& state) {
        try {
            action(state);
        } catch (...) {
            return;
        }
    });
}

// ---- devices -------------------------------------------------------------------------------------------------------

std::vector<IDevice*> chips_of(const IDevice* device) {
    if (const auto* const mesh = dynamic_cast<const MeshDevice*>(device)) {
        return mesh->get_devices();
    }
    if (dynamic_cast<const Device*>(device) == nullptr) {
        throw std::runtime_error("it allocates on a device that is neither a chip nor a mesh");
    }
    return {const_cast<IDevice*>(device)};
}

uint32_t arch_of(const IDevice* chip) {
    switch (chip->arch()) {
        case tt::ARCH::WORMHOLE_B0:
            return TTMEM_ARCH_WORMHOLE_B0;
        case tt::ARCH::BLACKHOLE:
            return TTMEM_ARCH_BLACKHOLE;
        default:
            return TTMEM_ARCH_UNKNOWN;
    }
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

// The set of the device, which is opened at its first use. The runtime is asked without our lock.
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

ttmem_set set_of(State& state, const IDevice* device) {
    ThreadData& data = thread_data;
    const uint64_t version =
        state.version.load(std::memory_order_acquire);  // pairs with the addition in close()
    if (data.device != device || data.device_version != version) {
        data.set = find_set(state, device);
        data.device = device;
        data.device_version = version;
    }
    return data.set;
}

// With a chip, the meshes that it belongs to close too.
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

// ---- buffers -------------------------------------------------------------------------------------------------------

bool is_per_core(const Buffer* buffer) {
    return experimental::per_core_allocation::is_per_core_allocation(*buffer);
}

// What the allocator takes for it in one bank: it rounds up to the alignment of DRAM in every pool.
uint64_t bytes_per_bank(const Buffer* buffer) {
    return round_to(buffer->aligned_size_per_bank(), buffer->allocator()->get_alignment(BufferType::DRAM));
}

// In all banks of the allocator that gives the memory: that of a sub-device has fewer.
uint64_t reserved_bytes(const Buffer* buffer) {
    if (buffer->buffer_type() == BufferType::SYSTEM_MEMORY) {
        return 0;
    }
    const uint64_t banks = is_per_core(buffer)
                               ? experimental::per_core_allocation::get_per_core_addresses(*buffer).size()
                               : buffer->allocator()->get_num_banks(buffer->buffer_type());
    return bytes_per_bank(buffer) * banks;
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
        ttmem_free(region->second);
        state.regions.erase(region);
        state.region_count.store(state.regions.size(), std::memory_order_relaxed);
    }
}

void free_all_of(State& state, const AllocatorImpl* allocator) {
    const void* const view = allocator->view().get();
    state.buffers.erase_if([&](const BufferRecord& record) {
        if (record.allocator != view) {
            return false;
        }
        ttmem_free(record.handle);
        return true;
    });
    const std::lock_guard lock(state.mutex);
    std::erase_if(state.regions, [&](const auto& entry) {
        if (entry.first.first != view) {
            return false;
        }
        ttmem_free(entry.second);
        return true;
    });
    state.region_count.store(state.regions.size(), std::memory_order_relaxed);
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

// What the allocator holds after its state was replaced, and no buffer accounts for.
void record_regions(State& state, const AllocatorImpl* allocator) {
    const AllocatorState now = allocator->extract_state();
    const IDevice* const device = device_of(state, allocator);
    for (const BufferType type : kPools) {
        for (const auto& [start, end] : now.get_allocated_regions(type)) {
            if (device == nullptr) {
                throw std::runtime_error("the allocator of an unknown device has a new state");
            }
            const uint64_t bytes = (end - start) * allocator->get_num_banks(type);
            ttmem_scope_push("allocator state");
            const ttmem_handle handle =
                ttmem_allocate(set_of(state, device), kind_of(type), start, bytes, bytes, 0);
            ttmem_scope_pop();
            const std::lock_guard lock(state.mutex);
            state.regions[{allocator->view().get(), {kind_of(type), start}}] = handle;
            state.region_count.store(state.regions.size(), std::memory_order_relaxed);
        }
    }
}

void report_out_of_memory(State& state, const AllocatorImpl* allocator, const Buffer* buffer) {
    const Statistics now = allocator->get_statistics(buffer->buffer_type());
    ttmem_out_of_memory failure{};
    failure.set = set_of(state, buffer->device());
    failure.kind = kind_of(buffer->buffer_type());
    failure.requested = buffer->size();
    failure.needed_per_bank = needed_per_bank(buffer);
    failure.free_per_bank = now.total_free_bytes;
    failure.largest_free_per_bank = now.largest_free_block_bytes;
    if (failure.needed_per_bank > failure.largest_free_per_bank) {  // else it failed for another reason
        ttmem_allocation_failed(&failure);
    }
}

// ---- programs ------------------------------------------------------------------------------------------------------

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
                regions.push_back({scratchpad.allocated_address, scratchpad.size_bytes, false,
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
                               buffer->borrows_memory(), mask_of(buffer->core_ranges)});
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
            regions.push_back({buffer->address(), buffer->size(), false, mask_of(buffer->core_ranges())});
        }
    }
    std::erase_if(regions, [](const Region& region) { return region.is_view; });
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
    const uint64_t limit = std::min<uint64_t>(lowest.value_or(l1_end), l1_end);
    if (highest == regions.end() || highest->address + highest->size <= limit) {
        return;  // it failed for another reason
    }
    ttmem_cb_clash clash{};
    clash.set = set_of(state, device);
    std::tie(clash.core_x, clash.core_y) = first_core_of(highest->cores);
    clash.program = program.get_id();
    for (const Region& region : regions) {
        clash.requested += (region.cores.row[clash.core_y] >> clash.core_x & 1) != 0 ? region.size : 0;
    }
    clash.cb_end = highest->address + highest->size;
    clash.lowest_buffer = limit;
    clash.free_per_bank = device->allocator_impl()->get_statistics(BufferType::L1).total_free_bytes;
    clash.blocker = lowest ? state.buffers.handle_at(clash.set, TTMEM_L1, *lowest) : 0;
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
    failure.free_per_bank = now.total_free_bytes;
    failure.largest_free_per_bank = now.largest_free_block_bytes;
    ttmem_allocation_failed(&failure);
}

}  // namespace

// ---- calls ---------------------------------------------------------------------------------------------------------

void enter_scope(std::string_view name) noexcept {
    if (ttmem_enabled() == 0) {
        return;
    }
    char text[128];  // libttmem cuts longer names too
    const size_t length = std::min(name.size(), sizeof text - 1);
    std::memcpy(text, name.data(), length);
    text[length] = '\0';
    ttmem_scope_push(text);
    ++thread_data.scopes;
}

void leave_scope() noexcept {
    if (thread_data.scopes != 0) {
        --thread_data.scopes;
        ttmem_scope_pop();
    }
}

void allocated(const Buffer* buffer) noexcept {
    report([&](State& state) {
        // A buffer that no allocator gave memory to is hooked by a graph capture.
        const bool is_planned = std::exchange(thread_data.allocated, nullptr) != buffer;
        BufferRecord record{.buffer = buffer, .address = buffer->address()};
        record.set = set_of(state, buffer->device());
        record.kind = kind_of(buffer->buffer_type());
        record.allocator = is_planned ? nullptr : buffer->allocator();
        const ContextScope context;
        record.handle =
            ttmem_allocate(record.set, record.kind | (is_planned ? TTMEM_PLANNED : 0u), record.address,
                           buffer->size(), reserved_bytes(buffer), buffer->unique_id());
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

void circular_buffer(const CoreRangeSet& cores, uint64_t address, uint64_t size, bool is_global,
                     const IDevice* chip) noexcept {
    report([&](State& state) {
        const ThreadData& data = thread_data;
        if (data.program != nullptr) {  // else a capture reports a program that never runs
            state.programs.add(data.program, data.program->get_id(), data.layout, chip, set_of(state, chip),
                               {address, size, is_global, mask_of(cores)});
        }
    });
}

void program_gone(const ProgramImpl* program) noexcept {
    report([&](State& state) { state.programs.gone(program); });
}

// ---- guards --------------------------------------------------------------------------------------------------------

Guard::Guard() noexcept : exceptions_before_(ttmem_enabled() != 0 ? std::uncaught_exceptions() : -1) {}
bool Guard::has_succeeded() const noexcept {
    return exceptions_before_ >= 0 && std::uncaught_exceptions() == exceptions_before_;
}
bool Guard::has_failed() const noexcept {
    return exceptions_before_ >= 0 && std::uncaught_exceptions() > exceptions_before_;
}

// The first buffer of each kind is measured: if the allocator takes another size than this file computes, nothing is
// reported from then on. No buffer of the kind was freed before, so with the lock nothing disturbs the comparison.
AllocationGuard::AllocationGuard(const AllocatorImpl* allocator, const Buffer* buffer) noexcept
    : allocator_(allocator), buffer_(buffer) {
    report([&](State& state) {
        FirstOfKind& first = state.first.at(kind_of(buffer->buffer_type()));
        if (first.is_measured.load(std::memory_order_acquire) || is_per_core(buffer) || buffer->size() == 0) {
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
    FirstOfKind& first = state_pointer()->first[kind_of(buffer_->buffer_type())];
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
    report([&](State& state) {
        free_all_of(state, allocator_);
        record_regions(state, allocator_);
    });
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
