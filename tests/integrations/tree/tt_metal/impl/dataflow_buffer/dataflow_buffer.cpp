// SPDX-License-Identifier: Apache-2.0
#include "impl/stand_in.hpp"
#include "truth.hpp"

namespace tt::tt_metal::detail {

void ProgramImpl::allocate_dataflow_buffers(const IDevice* device) {
    for (const auto& buffer : dataflow_) {
        if (!buffer->alias_primary_id && buffer->core_lookup_.empty()) {
            buffer->core_lookup_[{0, 0}] = {0, 200'000};
            truth::add(this, device->label() + " cb at 200000 requested " + std::to_string(buffer->size) + " used " +
                                 (buffer->borrows ? "0 view" : std::to_string(buffer->size)) + " dataflow owner " + std::to_string(id_) + " name " + truth::current_name());
        }
    }
}

void ProgramImpl::validate_dataflow_buffer_region(const IDevice* device) { (void)device; }

}  // namespace tt::tt_metal::detail
