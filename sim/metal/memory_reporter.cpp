// SPDX-License-Identifier: Apache-2.0
#include <tt-metalium/memory_reporter.hpp>

#include "sim/metal/allocator_impl.hpp"

namespace tt::tt_metal::detail {

MemoryView GetMemoryView(const IDevice* device, const BufferType& buffer_type) {
    const AllocatorImpl& allocator = *device->allocator_impl();
    const Statistics now = allocator.get_statistics(buffer_type);
    return {.num_banks = allocator.memory()[pool_of(buffer_type)].banks,
            .total_bytes_per_bank = now.total_allocatable_size_bytes,
            .total_bytes_allocated_per_bank = now.total_allocated_bytes,
            .total_bytes_free_per_bank = now.total_free_bytes,
            .largest_contiguous_bytes_free_per_bank = now.largest_free_block_bytes,
            .block_table = allocator.get_memory_block_table(buffer_type)};
}

}  // namespace tt::tt_metal::detail
