// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string_view>

#include "release.hpp"
#include "truth.hpp"

namespace tt::tt_metal::detail {

#if HAS_DATAFLOW_BUFFERS
void ProgramImpl::lay_out(const IDevice* device, uint64_t size, const char* type) {
    uint64_t address = 105'664;
    for (const CircularBufferAllocator& region : regions_) {
        address = std::max(address, region.end);
    }
    for (CircularBufferAllocator& region : regions_) {
#if defined(MUTATION_SCRATCHPADS_INLINED)
        if (type == std::string_view("scratchpad")) {
            region.end = address + size;
            continue;
        }
#endif
        region.mark_address(address, size, 105'664);
    }
    for (const IDevice* chip : chips_of(device)) {
        truth::add(this, std::to_string(chip->id()) + " cb of program " + std::to_string(id_) + " at " +
                             std::to_string(address) + " requested " + std::to_string(size) + " reserved " +
                             std::to_string(size * 3) + " " + type + " name '" + truth::current_name() + "'");
    }
}

void ProgramImpl::allocate_dataflow_buffers(const IDevice* device) {
    if (dataflow_bytes != 0 && dataflow_buffers_.empty()) {
        dataflow_buffers_.push_back(dataflow_bytes);
        lay_out(device, dataflow_bytes, "dataflow");
    }
}

const std::vector<uint64_t>& ProgramImpl::dataflow_buffers() const { return dataflow_buffers_; }

void ProgramImpl::allocate_scratchpads(const IDevice* device) {
    if (scratchpad_bytes != 0 && !has_scratchpads_) {
        has_scratchpads_ = true;
        lay_out(device, scratchpad_bytes, "scratchpad");
        if (!kernel_.common_runtime_args().empty()) {
            kernel_.common_runtime_args().front() = static_cast<uint32_t>(regions_[0].end);
        }
    }
}

void ProgramImpl::validate_dataflow_buffer_region(const IDevice* device) {
    const std::optional<uint64_t> lowest = device->lowest_occupied_compute_l1_address();
    if (lowest && regions_[0].end > *lowest) {
        truth::add_failure(clash_text(id_, regions_[0].end, device));
        throw std::runtime_error("dataflow buffers clash with a buffer");
    }
}
#endif

}  // namespace tt::tt_metal::detail
