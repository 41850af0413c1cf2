// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string_view>

#include "release.hpp"
#include "truth.hpp"

namespace tt::tt_metal::detail {

void ProgramImpl::validate_circular_buffer_region(const IDevice* device) {
    for (const CircularBufferPlan& buffer : buffers_) {
        if (!buffer.is_global) {
            validate_region(id_, "circular", buffer.cores.ranges().front(), buffer.address + buffer.size,
                            device, on_sub_device);
        }
    }
}

#if HAS_DATAFLOW_BUFFERS
namespace {
// The class whose addresses a compiler marks without a call.
#if defined(MUTATION_SCRATCHPADS_INLINED)
constexpr std::string_view kMarkedWithoutCall = "scratchpad";
#elif defined(MUTATION_DATAFLOW_MARKS_INLINED)
constexpr std::string_view kMarkedWithoutCall = "dataflow";
#else
constexpr std::string_view kMarkedWithoutCall;
#endif
}  // namespace

void ProgramImpl::lay_out(const IDevice* device, uint64_t size, const char* type) {
    uint64_t address = 105'664;
    for (const CircularBufferAllocator& region : regions_) {
        address = std::max(address, region.end);
    }
    for (CircularBufferAllocator& region : regions_) {
        if (type == kMarkedWithoutCall) {
            region.end = address + size;
            continue;
        }
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

#if HAS_DATAFLOW_LIST
const std::vector<uint64_t>& ProgramImpl::dataflow_buffers() const { return dataflow_buffers_; }
#endif

#if HAS_SCRATCHPADS
void ProgramImpl::allocate_scratchpads(const IDevice* device) {
    if (scratchpad_bytes != 0 && !has_scratchpads_) {
        has_scratchpads_ = true;
        lay_out(device, scratchpad_bytes, "scratchpad");
        if (!kernel_.common_runtime_args().empty()) {
            kernel_.common_runtime_args().front() = static_cast<uint32_t>(regions_[0].end);
        }
    }
}
#endif

void ProgramImpl::validate_dataflow_buffer_region(const IDevice* device) {
    validate_region(id_, "dataflow", regions_[0].core_range, regions_[0].end, device, on_sub_device);
}
#endif

}  // namespace tt::tt_metal::detail
