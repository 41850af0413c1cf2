// SPDX-License-Identifier: Apache-2.0
//
// The layout of a program's circular buffers. Each lies above those that share a core with it, from the base of L1 up.
// Every program starts at the base again, so cached programs share addresses.
#include <algorithm>
#include <tt-metalium/allocator.hpp>
#include <tt-metalium/graph_tracking.hpp>
#include <tt_stl/assert.hpp>
#include <utility>

#include "sim/metal/device_impl.hpp"
#include "sim/metal/program_impl.hpp"
#include "sim/metal/reporting.hpp"

namespace tt::tt_metal::detail {

void ProgramImpl::invalidate_circular_buffer_allocation() {
    const std::lock_guard lock(mutex_);
    layout_needed_ = true;
}

void ProgramImpl::allocate_circular_buffers(const IDevice* device) {
    if (circular_buffers_.empty()) {
        return;
    }
    const std::lock_guard lock(mutex_);
    std::vector<Device*> chips = chips_of(device);
    const bool again = layout_needed_;
    if (again) {
        lay_out_circular_buffers(device);
    } else {
        // The layout exists; only chips that lack it adopt it.
        std::erase_if(chips, [this](Device* chip) { return cb_devices_.contains(chip); });
    }
    const reporting::LayoutScope scope(id_, layout_);
    for (const auto& buffer : circular_buffers_) {
        if (!again && buffer->globally_allocated()) {
            continue;
        }
        for (const Device* chip : chips) {
            track_circular_buffer(*buffer, chip);
        }
    }
    for (Device* chip : chips) {
        cb_devices_.insert(chip);
        record_circular_buffers(chip);
    }
}

void ProgramImpl::lay_out_circular_buffers(const IDevice* device) {
    regions_.clear();
    const uint64_t base = device->allocator()->get_base_allocator_addr(HalMemType::L1);
    const uint64_t alignment = device->allocator()->get_alignment(BufferType::DRAM);
    for (const auto& buffer : circular_buffers_) {
        if (buffer->globally_allocated()) {
            continue;
        }
        uint64_t address = base;
        for (const RegionEnd& region : regions_) {
            if (buffer->core_ranges().intersects(region.cores)) {
                address = std::max(address, region.end);
            }
        }
        address = ttmem::allocator::round_up(address, alignment);
        buffer->set_local_address(address);
        for (const CoreRange& cores : buffer->core_ranges().ranges()) {
            regions_.push_back({cores, address + buffer->size()});
        }
    }
    layout_needed_ = false;
    ++layout_;
}

void ProgramImpl::track_circular_buffer(const CircularBufferImpl& buffer, const IDevice* device) const {
    GraphTracker::instance().track_allocate_cb(buffer.core_ranges(), buffer.address(), buffer.size(),
                                               buffer.globally_allocated(), device);
}

uint64_t ProgramImpl::circular_buffer_bytes_per_core() const {
    uint64_t bytes = 0;
    for (const auto& buffer : circular_buffers_) {
        bytes += buffer->globally_allocated() ? 0 : buffer->size();
    }
    return bytes;
}

void ProgramImpl::record_circular_buffers(Device* device) {
    uint64_t on_all_cores = 0;
    for (const auto& buffer : circular_buffers_) {
        on_all_cores += buffer->globally_allocated() ? 0 : buffer->size() * buffer->core_ranges().num_cores();
    }
    device->record_program_cbs(this, circular_buffer_bytes_per_core(), on_all_cores);
}

void ProgramImpl::validate_circular_buffer_region(const IDevice* device) {
    const std::lock_guard lock(mutex_);
    const uint64_t l1_end = device->l1_size_per_core();
    const std::optional<DeviceAddr> lowest = device->lowest_occupied_compute_l1_address();
    for (const RegionEnd& region : regions_) {
        if (lowest && region.end > *lowest) {
            GraphTracker::instance().track_cb_clash(id_, circular_buffer_bytes_per_core(), region.end, lowest,
                                                    region.cores.start_coord, device);
            TT_THROW(
                "Statically allocated circular buffers of program {} clash with L1 buffers on core range {}: "
                "they end "
                "at {}, and the lowest L1 buffer begins at {}, {} B below",
                id_, region.cores.str(), region.end, *lowest, region.end - *lowest);
        }
        if (region.end > l1_end) {
            GraphTracker::instance().track_cb_clash(id_, circular_buffer_bytes_per_core(), region.end,
                                                    std::nullopt, region.cores.start_coord, device);
            TT_THROW(
                "Statically allocated circular buffers of program {} on core range {} end at {}, beyond the "
                "{} B of L1",
                id_, region.cores.str(), region.end, l1_end);
        }
    }
}

void ProgramImpl::deallocate_circular_buffers() {
    std::unordered_set<Device*> chips;
    {
        const std::lock_guard lock(mutex_);
        chips = std::exchange(cb_devices_, {});
        layout_needed_ = true;
    }
    const reporting::LayoutScope scope(id_, layout_);
    for (Device* chip : chips) {
        GraphTracker::instance().track_deallocate_cb(chip);
        chip->unregister_program(this);
    }
}

}  // namespace tt::tt_metal::detail
