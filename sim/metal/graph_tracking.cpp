// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <nlohmann/json.hpp>
#include <tt-metalium/graph_tracking.hpp>
#include <tt_stl/assert.hpp>

#include "sim/metal/allocator_impl.hpp"
#include "sim/metal/reporting.hpp"

namespace tt::tt_metal {

thread_local std::vector<std::shared_ptr<IGraphProcessor>> GraphTracker::processors;
thread_local std::shared_ptr<IGraphHooks> GraphTracker::hook;

nlohmann::json IGraphProcessor::end_capture() { return nullptr; }

GraphTracker& GraphTracker::instance() {
    static GraphTracker tracker;
    return tracker;
}

bool GraphTracker::is_enabled() const {
    return std::ranges::any_of(processors,
                               [](const auto& processor) { return processor->is_capture_processor(); });
}

void GraphTracker::push_processor(const std::shared_ptr<IGraphProcessor>& processor) {
    processors.push_back(processor);
}

void GraphTracker::pop_processor() {
    TT_FATAL(!processors.empty(), "there is no processor to pop");
    processors.pop_back();
}

bool GraphTracker::add_hook(const std::shared_ptr<IGraphHooks>& new_hook) {
    if (hook != nullptr) {
        return false;
    }
    hook = new_hook;
    return true;
}

const std::vector<std::shared_ptr<IGraphProcessor>>& GraphTracker::get_processors() const {
    return processors;
}

const std::shared_ptr<IGraphHooks>& GraphTracker::get_hook() const { return hook; }

void GraphTracker::clear() {
    processors.clear();
    clear_hook();
}

void GraphTracker::clear_hook() { hook = nullptr; }

// tt-metal passes buffers and devices on without looking into them, so an observer may pass others to find out what is
// called. Those without an allocator are not reported.
void GraphTracker::track_allocate(const Buffer* buffer) {
    if (buffer->allocator_ != nullptr) {
        buffer->tracking_handle_ =
            reporting::buffer_allocated(buffer, buffer->allocator_->tracking_set, buffer->hooked_allocation_);
    }
    for (const auto& processor : processors) {
        processor->track_allocate(buffer);
    }
}

void GraphTracker::track_deallocate(Buffer* buffer) {
    reporting::freed(buffer->tracking_handle_.exchange(0));
    for (const auto& processor : processors) {
        processor->track_deallocate(buffer);
    }
}

void GraphTracker::track_allocate_cb(const CoreRangeSet& core_range_set, uint64_t addr, uint64_t size,
                                     bool is_globally_allocated, const IDevice* device) {
    reporting::circular_buffer_allocated(core_range_set, addr, size, is_globally_allocated, device);
    for (const auto& processor : processors) {
        processor->track_allocate_cb(core_range_set, addr, size, is_globally_allocated, device);
    }
}

void GraphTracker::track_deallocate_cb(const IDevice* device) {
    reporting::circular_buffers_freed(device);
    for (const auto& processor : processors) {
        processor->track_deallocate_cb(device);
    }
}

void GraphTracker::track_program(Program* program, const IDevice* device) {
    for (const auto& processor : processors) {
        processor->track_program(program, device);
    }
}

bool GraphTracker::hook_allocate(const Buffer* buffer) {
    return hook != nullptr && hook->hook_allocate(buffer);
}

bool GraphTracker::hook_deallocate(Buffer* buffer) {
    return hook != nullptr && hook->hook_deallocate(buffer);
}

bool GraphTracker::hook_write_to_device(const Buffer* buffer) {
    return hook != nullptr && hook->hook_write_to_device(buffer);
}

bool GraphTracker::hook_write_to_device(const distributed::MeshBuffer* mesh_buffer) {
    return hook != nullptr && hook->hook_write_to_device(mesh_buffer);
}

bool GraphTracker::hook_read_from_device(Buffer* buffer) {
    return hook != nullptr && hook->hook_read_from_device(buffer);
}

bool GraphTracker::hook_read_from_device(const distributed::MeshBuffer* mesh_buffer) {
    return hook != nullptr && hook->hook_read_from_device(mesh_buffer);
}

bool GraphTracker::hook_program(Program* program) { return hook != nullptr && hook->hook_program(program); }

void GraphTracker::track_open(const IDevice* device) { reporting::device_opened(device); }

void GraphTracker::track_close(const IDevice* device) { reporting::device_closed(device); }

void GraphTracker::track_bulk_deallocate(const Buffer* buffer) {
    const uint64_t handle = buffer->tracking_handle_.exchange(0);
    if (buffer->allocator_->tracking_set != 0) {  // else closing its device removed it
        reporting::freed(handle);
    }
}

void GraphTracker::track_view(const Buffer* buffer) {
    buffer->tracking_handle_ = reporting::view_made(buffer, buffer->allocator_->tracking_set);
}

void GraphTracker::track_view_end(const Buffer* buffer) {
    reporting::freed(buffer->tracking_handle_.exchange(0));
}

void GraphTracker::track_kernel_load(uint64_t size, uint64_t program, KernelType type,
                                     const IDevice* device) {
    reporting::kernel_loaded(size, program, static_cast<uint8_t>(type), device);
}

void GraphTracker::track_program_end(uint64_t program) { reporting::program_ended(program); }

void GraphTracker::track_out_of_memory(const Buffer* buffer, uint64_t needed_per_bank, uint64_t free_per_bank,
                                       uint64_t largest_free_per_bank) {
    reporting::out_of_memory(buffer, buffer->allocator_->tracking_set, needed_per_bank, free_per_bank,
                             largest_free_per_bank);
}

void GraphTracker::track_cb_clash(uint64_t program, uint64_t size, uint64_t region_end,
                                  std::optional<DeviceAddr> lowest_buffer, const CoreCoord& core,
                                  const IDevice* device) {
    reporting::circular_buffers_clashed(program, size, region_end, lowest_buffer, core, device);
}

void GraphTracker::enter_scope(std::string_view name) { reporting::scope_entered(name); }

void GraphTracker::leave_scope() { reporting::scope_left(); }

}  // namespace tt::tt_metal
