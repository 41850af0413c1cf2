// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <tt-metalium/core_coord.hpp>
#include <tt-metalium/hal_types.hpp>

// What GraphTracker says to ttmem. Nothing else in the runtime calls libttmem.
namespace tt::tt_metal {

class Buffer;
class IDevice;

namespace reporting {

// Whose circular buffers the calls of track_allocate_cb and track_deallocate_cb on this thread are about: the functions
// themselves, which are tt-metal's, don't say. A new layout of a program replaces its old one on each device.
class LayoutScope {
public:
    LayoutScope(std::uint64_t program, std::uint64_t layout);
    ~LayoutScope();
    LayoutScope(const LayoutScope&) = delete;
    LayoutScope& operator=(const LayoutScope&) = delete;

private:
    std::uint64_t outer_program_;
    std::uint64_t outer_layout_;
};

void device_opened(const IDevice* device);
void device_closed(const IDevice* device);

// Handles; 0 where nothing is recorded.
[[nodiscard]] std::uint64_t buffer_allocated(const Buffer* buffer, std::uint32_t tracking_set, bool planned);
[[nodiscard]] std::uint64_t view_made(const Buffer* buffer, std::uint32_t tracking_set);
void freed(std::uint64_t handle);

void circular_buffer_allocated(const CoreRangeSet& cores, std::uint64_t address, std::uint64_t size,
                               bool global, const IDevice* device);
void circular_buffers_freed(const IDevice* device);
void kernel_loaded(std::uint64_t bytes, std::uint64_t program, std::uint8_t type, const IDevice* device);
void program_ended(std::uint64_t program);

void out_of_memory(const Buffer* buffer, std::uint32_t tracking_set, std::uint64_t needed, std::uint64_t free,
                   std::uint64_t largest_free);
void circular_buffers_clashed(std::uint64_t program, std::uint64_t size, std::uint64_t region_end,
                              std::optional<DeviceAddr> lowest_buffer, const CoreCoord& core,
                              const IDevice* device);

void scope_entered(std::string_view name);
void scope_left();

}  // namespace reporting

}  // namespace tt::tt_metal
