// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <tt-metalium/core_coord.hpp>
#include <tt-metalium/hal_types.hpp>

// GraphTracker's reports to ttmem. Nothing else in the runtime calls libttmem.
namespace tt::tt_metal {

class Buffer;
class IDevice;

namespace reporting {

// Names the program whose circular buffers this thread's calls of track_allocate_cb and track_deallocate_cb concern:
// tt-metal's signatures do not include it. A new layout of a program replaces its old one on each device.
class LayoutScope {
public:
    LayoutScope(uint64_t program, uint64_t layout);
    ~LayoutScope();
    LayoutScope(const LayoutScope&) = delete;
    LayoutScope& operator=(const LayoutScope&) = delete;

private:
    uint64_t outer_program_;
    uint64_t outer_layout_;
};

void device_opened(const IDevice* device);
void device_closed(const IDevice* device);

// Handles; 0 if nothing is recorded.
uint64_t buffer_allocated(const Buffer* buffer, uint32_t tracking_set, bool planned);
uint64_t view_made(const Buffer* buffer, uint32_t tracking_set);
void freed(uint64_t handle);

void circular_buffer_allocated(const CoreRangeSet& cores, uint64_t address, uint64_t size, bool global,
                               const IDevice* device);
void circular_buffers_freed(const IDevice* device);
void kernel_loaded(uint64_t bytes, uint64_t program, uint8_t type, const IDevice* device);
void program_ended(uint64_t program);

void out_of_memory(const Buffer* buffer, uint32_t tracking_set, uint64_t needed, uint64_t free,
                   uint64_t largest_free);
void circular_buffers_clashed(uint64_t program, uint64_t size, uint64_t region_end,
                              std::optional<DeviceAddr> lowest_buffer, const CoreCoord& core,
                              const IDevice* device);

// As a runtime with an allocator per core reports (HYBRID): buffers of L1 that lie on one core each, and a request that found no room. The
// simulated allocators have banks in lockstep and know nothing of them.
void buffer_on_a_core(const IDevice* device, uint64_t address, uint64_t bytes, uint64_t id);
void refused_on_cores(const IDevice* device, uint32_t cores, uint64_t bytes_per_core, uint64_t free,
                      uint64_t largest_free);

void scope_entered(std::string_view name);
void scope_left();

}  // namespace reporting

}  // namespace tt::tt_metal
