// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include <hostdevcommon/common_values.hpp>
#include <tt-metalium/core_coord.hpp>
#include <tt-metalium/device_types.hpp>
#include <tt-metalium/hal_types.hpp>
#include <tt-metalium/sub_device_types.hpp>
#include <tt_stl/span.hpp>
#include <umd/device/types/arch.hpp>

namespace tt::tt_metal {

class Allocator;
class AllocatorImpl;

namespace program_cache::detail {
struct ProgramCache;
}  // namespace program_cache::detail

namespace distributed {
class MeshDevice;
}  // namespace distributed

// One map per block: "blockID", "address", "size", "prevID", "nextID", "allocated".
using MemoryBlockTable = std::vector<std::unordered_map<std::string, std::string>>;

// A chip, or a mesh of chips that allocate in lockstep.
class IDevice {
public:
    IDevice() = default;
    virtual ~IDevice() = default;
    IDevice(const IDevice& other) = delete;
    IDevice& operator=(const IDevice& other) = delete;

    virtual tt::ARCH arch() const = 0;
    virtual ChipId id() const = 0;
    virtual ChipId build_id() const = 0;
    virtual uint8_t num_hw_cqs() const = 0;
    virtual bool is_initialized() const = 0;

    virtual int num_dram_channels() const = 0;
    virtual uint32_t l1_size_per_core() const = 0;
    virtual uint32_t dram_size_per_channel() const = 0;
    virtual CoreCoord grid_size() const = 0;
    virtual CoreCoord logical_grid_size() const = 0;
    virtual CoreCoord dram_grid_size() const = 0;
    virtual CoreCoord compute_with_storage_grid_size() const = 0;

    virtual const std::unique_ptr<Allocator>& allocator() const = 0;
    virtual const std::unique_ptr<Allocator>& allocator(SubDeviceId sub_device_id) const = 0;
    virtual const std::unique_ptr<AllocatorImpl>& allocator_impl() const = 0;
    virtual const std::unique_ptr<AllocatorImpl>& allocator_impl(SubDeviceId sub_device_id) const = 0;
    virtual std::optional<DeviceAddr> lowest_occupied_compute_l1_address() const = 0;

    virtual uint32_t get_trace_buffers_size() const = 0;
    virtual void set_trace_buffers_size(uint32_t size) = 0;

    virtual bool initialize(uint8_t num_hw_cqs, size_t l1_small_size, size_t trace_region_size,
                            size_t worker_l1_size, ttsl::Span<const uint32_t> l1_bank_remap = {},
                            bool minimal = false) = 0;
    virtual bool close() = 0;

    virtual void enable_program_cache() = 0;
    virtual void clear_program_cache() = 0;
    virtual void disable_and_clear_program_cache() = 0;
    virtual program_cache::detail::ProgramCache& get_program_cache() = 0;
    virtual size_t num_program_cache_entries() = 0;

    virtual const std::vector<SubDeviceId>& get_sub_device_ids() const = 0;
    virtual uint32_t num_sub_devices() const = 0;
    virtual bool is_mmio_capable() const = 0;
    virtual std::shared_ptr<distributed::MeshDevice> get_mesh_device() = 0;
};

}  // namespace tt::tt_metal
