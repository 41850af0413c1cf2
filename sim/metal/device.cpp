// SPDX-License-Identifier: Apache-2.0
#include <tt-metalium/device.hpp>
#include <tt-metalium/graph_tracking.hpp>
#include <tt-metalium/mesh_device.hpp>
#include <tt_stl/assert.hpp>
#include <utility>

#include "sim/metal/device_impl.hpp"
#include "sim/metal/program_impl.hpp"
#include "sim/metal/system_resources.hpp"

namespace tt::tt_metal {

using ttmem::sim::Arch;

Device::Device(const ttmem::sim::Board& board, ChipId chip)
    : board_(board), id_(chip), memory_(ttmem::sim::memory_geometry(board, {})) {}

Device::~Device() = default;

tt::ARCH Device::arch() const {
    return board_.arch == Arch::wormhole_b0 ? tt::ARCH::WORMHOLE_B0 : tt::ARCH::BLACKHOLE;
}

int Device::num_dram_channels() const { return static_cast<int>(board_.dram_banks); }

uint32_t Device::l1_size_per_core() const { return static_cast<uint32_t>(board_.chip.l1_size); }

uint32_t Device::dram_size_per_channel() const { return static_cast<uint32_t>(board_.chip.dram_bank_size); }

CoreCoord Device::grid_size() const {
    const auto grid = board_.chip.physical_grid;
    return {grid.x, grid.y};
}

CoreCoord Device::logical_grid_size() const { return compute_with_storage_grid_size(); }

CoreCoord Device::dram_grid_size() const { return {board_.dram_banks, 1}; }

CoreCoord Device::compute_with_storage_grid_size() const {
    return {board_.compute_grid.x, board_.compute_grid.y};
}

const std::unique_ptr<AllocatorImpl>& Device::allocator_impl() const {
    TT_FATAL(allocator_ != nullptr, "chip {} is not open", id_);
    return allocator_;
}

const std::unique_ptr<AllocatorImpl>& Device::allocator_impl(SubDeviceId) const { return allocator_impl(); }

const std::unique_ptr<Allocator>& Device::allocator() const { return allocator_impl()->view(); }

const std::unique_ptr<Allocator>& Device::allocator(SubDeviceId) const { return allocator(); }

std::optional<DeviceAddr> Device::lowest_occupied_compute_l1_address() const {
    return allocator_impl()->lowest_occupied_l1_address();
}

bool Device::initialize(uint8_t num_hw_cqs, size_t l1_small_size, size_t trace_region_size,
                        size_t /*worker_l1_size*/, ttsl::Span<const uint32_t> /*l1_bank_remap*/,
                        bool minimal) {
    TT_FATAL(allocator_ == nullptr, "chip {} is open already", id_);
    memory_ = ttmem::sim::memory_geometry(board_, {.l1_small = l1_small_size, .trace = trace_region_size});
    num_hw_cqs_ = num_hw_cqs;
    allocator_ = std::make_unique<AllocatorImpl>(memory_, this);
    add_allocator(allocator_.get());
    GraphTracker::instance().track_open(this);
    if (!minimal) {
        system_programs_ = std::make_unique<SystemPrograms>(*this);
    }
    return true;
}

bool Device::close() {
    if (allocator_ == nullptr) {
        return false;
    }
    // From here on, whatever is still alive no longer counts and is not reported when it ends.
    GraphTracker::instance().track_close(this);
    remove_allocator(allocator_.get());
    allocator_->deallocate_buffers();
    std::unordered_map<detail::ProgramImpl*, ProgramFootprint> programs;
    {
        const std::lock_guard lock(mutex_);
        programs = std::exchange(programs_, {});
    }
    for (const auto& [program, footprint] : programs) {
        program->forget_device(this);
    }
    program_cache_.clear();
    system_programs_.reset();
    system_buffers_.reset();
    allocator_.reset();
    return true;
}

void Device::take_system_buffers() { system_buffers_ = std::make_unique<SystemBuffers>(*this); }

void Device::enable_program_cache() { program_cache_.enable(); }

void Device::clear_program_cache() { program_cache_.clear(); }

void Device::disable_and_clear_program_cache() {
    program_cache_.disable();
    program_cache_.clear();
}

const std::vector<SubDeviceId>& Device::get_sub_device_ids() const {
    static const std::vector<SubDeviceId> only_one{SubDeviceId{0}};
    return only_one;
}

bool Device::is_mmio_capable() const {
    // On cards with two chips, the second chip is reached through the first.
    return board_.card != "n300" || id_ < static_cast<ChipId>(board_.chips / 2);
}

std::shared_ptr<distributed::MeshDevice> Device::get_mesh_device() { return mesh_device_.lock(); }

void Device::record_program_cbs(detail::ProgramImpl* program, uint64_t per_core, uint64_t on_all_cores) {
    const std::lock_guard lock(mutex_);
    ProgramFootprint& footprint = programs_[program];
    footprint.cb_per_core = per_core;
    footprint.cb_on_all_cores = on_all_cores;
}

void Device::record_program_kernels(detail::ProgramImpl* program, const std::array<uint64_t, 3>& bytes) {
    const std::lock_guard lock(mutex_);
    programs_[program].kernel_bytes = bytes;
}

void Device::unregister_program(detail::ProgramImpl* program) {
    const std::lock_guard lock(mutex_);
    programs_.erase(program);
}

ProgramFootprint Device::programs_footprint() const {
    const std::lock_guard lock(mutex_);
    ProgramFootprint sum;
    for (const auto& [program, footprint] : programs_) {
        sum.cb_per_core += footprint.cb_per_core;
        sum.cb_on_all_cores += footprint.cb_on_all_cores;
        for (size_t type = 0; type < sum.kernel_bytes.size(); ++type) {
            sum.kernel_bytes[type] += footprint.kernel_bytes[type];
        }
    }
    return sum;
}

void Device::add_allocator(const AllocatorImpl* allocator) {
    const std::lock_guard lock(mutex_);
    allocators_.push_back(allocator);
}

void Device::remove_allocator(const AllocatorImpl* allocator) {
    const std::lock_guard lock(mutex_);
    std::erase(allocators_, allocator);
}

std::vector<const AllocatorImpl*> Device::allocators() const {
    const std::lock_guard lock(mutex_);
    return allocators_;
}

}  // namespace tt::tt_metal
