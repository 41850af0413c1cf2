// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "impl/stand_in.hpp"
#include "truth.hpp"

namespace tt::tt_metal::distributed {

void MeshTrace::populate_mesh_buffer(MeshCommandQueue& mesh_cq, uint32_t size) {
    MeshDevice& mesh = *mesh_cq.device();
    const size_t region = mesh.allocator_impl()->get_config().trace_region_size;
    const size_t left = (region - mesh.get_trace_buffers_size()) / 12;  // in a bank
    mesh.set_trace_buffers_size(mesh.get_trace_buffers_size() + size);
    if (mesh.get_trace_buffers_size() > region) {
        auto now = mesh.allocator_impl()->get_statistics(BufferType::TRACE);
        now.total_free_bytes = std::min(now.total_free_bytes, left);
        now.largest_free_block_bytes = std::min(now.largest_free_block_bytes, left);
        truth::add_failure("no room for " + std::to_string(size) + " needed " + std::to_string((size / 12 + 31) / 32 * 32) +
                    " free " + std::to_string(now.total_free_bytes) + " largest " +
                    std::to_string(now.largest_free_block_bytes));
        throw std::runtime_error("the trace exceeds its region");
    }
}

}  // namespace tt::tt_metal::distributed