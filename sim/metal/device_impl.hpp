// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include <tt-metalium/device.hpp>
#include <tt-metalium/program_cache.hpp>

#include "sim/geometry.hpp"
#include "sim/metal/allocator_impl.hpp"

namespace tt::tt_metal {

namespace detail {
class ProgramImpl;
}  // namespace detail

class SystemBuffers;
class SystemPrograms;

// A program's memory on one chip, besides buffers.
struct ProgramFootprint {
    uint64_t cb_per_core = 0;                // sizes of its own circular buffers, each counted once
    uint64_t cb_on_all_cores = 0;            // each counted on every core that it lies on
    std::array<uint64_t, 3> kernel_bytes{};  // by GraphTracker::KernelType
};

// One chip. It exists as long as the process; open and closed are its states.
class Device : public IDevice {
public:
    Device(const ttmem::sim::Board& board, ChipId chip);
    ~Device() override;

    tt::ARCH arch() const override;
    ChipId id() const override { return id_; }
    ChipId build_id() const override { return id_; }
    uint8_t num_hw_cqs() const override { return num_hw_cqs_; }
    bool is_initialized() const override { return allocator_ != nullptr; }
    int num_dram_channels() const override;
    uint32_t l1_size_per_core() const override;
    uint32_t dram_size_per_channel() const override;
    CoreCoord grid_size() const override;
    CoreCoord logical_grid_size() const override;
    CoreCoord dram_grid_size() const override;
    CoreCoord compute_with_storage_grid_size() const override;
    const std::unique_ptr<Allocator>& allocator() const override;
    const std::unique_ptr<Allocator>& allocator(SubDeviceId sub_device_id) const override;
    const std::unique_ptr<AllocatorImpl>& allocator_impl() const override;
    const std::unique_ptr<AllocatorImpl>& allocator_impl(SubDeviceId sub_device_id) const override;
    std::optional<DeviceAddr> lowest_occupied_compute_l1_address() const override;
    uint32_t get_trace_buffers_size() const override { return trace_buffers_size_; }
    void set_trace_buffers_size(uint32_t size) override { trace_buffers_size_ = size; }
    bool initialize(uint8_t num_hw_cqs, size_t l1_small_size, size_t trace_region_size, size_t worker_l1_size,
                    ttsl::Span<const uint32_t> l1_bank_remap = {}, bool minimal = false) override;
    bool close() override;
    void enable_program_cache() override;
    void clear_program_cache() override;
    void disable_and_clear_program_cache() override;
    program_cache::detail::ProgramCache& get_program_cache() override { return program_cache_; }
    size_t num_program_cache_entries() override { return program_cache_.num_entries(); }
    const std::vector<SubDeviceId>& get_sub_device_ids() const override;
    uint32_t num_sub_devices() const override { return 1; }
    bool is_mmio_capable() const override;
    std::shared_ptr<distributed::MeshDevice> get_mesh_device() override;

    const ttmem::sim::Board& board() const { return board_; }
    uint64_t asic_id() const { return ttmem::sim::asic_id(board_, id_); }
    const ttmem::allocator::MemoryGeometry& memory() const { return memory_; }
    // For a chip that is opened directly; a mesh has those of its members.
    void take_system_buffers();
    void set_mesh_device(const std::shared_ptr<distributed::MeshDevice>& mesh) { mesh_device_ = mesh; }

    // Programs with circular buffers or kernels here. The chip sums up their memory and notifies them when it closes.
    void record_program_cbs(detail::ProgramImpl* program, uint64_t per_core, uint64_t on_all_cores);
    void record_program_kernels(detail::ProgramImpl* program, const std::array<uint64_t, 3>& bytes);
    void unregister_program(detail::ProgramImpl* program);
    ProgramFootprint programs_footprint() const;

    // Every allocator of this chip's memory: its own and those of its meshes.
    void add_allocator(const AllocatorImpl* allocator);
    void remove_allocator(const AllocatorImpl* allocator);
    std::vector<const AllocatorImpl*> allocators() const;

    // GraphTracker's token for this chip.
    uint32_t tracking_device = 0;

private:
    const ttmem::sim::Board& board_;
    const ChipId id_;
    uint8_t num_hw_cqs_ = 1;
    uint32_t trace_buffers_size_ = 0;
    ttmem::allocator::MemoryGeometry memory_;
    std::unique_ptr<AllocatorImpl> allocator_;  // null while the chip is closed
    std::weak_ptr<distributed::MeshDevice> mesh_device_;
    program_cache::detail::ProgramCache program_cache_;
    std::unique_ptr<SystemPrograms> system_programs_;
    std::unique_ptr<SystemBuffers> system_buffers_;

    mutable std::mutex mutex_;
    std::unordered_map<detail::ProgramImpl*, ProgramFootprint> programs_;
    std::vector<const AllocatorImpl*> allocators_;
};

}  // namespace tt::tt_metal
