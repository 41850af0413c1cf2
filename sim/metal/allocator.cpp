// SPDX-License-Identifier: Apache-2.0
#include <tt-metalium/allocator.hpp>

#include "sim/metal/allocator_impl.hpp"

namespace tt::tt_metal {

Allocator::Allocator(AllocatorImpl* impl_) : impl(impl_) {}

void Allocator::deallocate_buffers() { impl->deallocate_buffers(); }

std::unordered_set<Buffer*> Allocator::get_allocated_buffers() const { return impl->get_allocated_buffers(); }

uint32_t Allocator::get_num_banks(const BufferType& buffer_type) const {
    return impl->memory()[pool_of(buffer_type)].banks;
}

DeviceAddr Allocator::get_bank_size(const BufferType& buffer_type) const {
    return impl->memory()[pool_of(buffer_type)].size;
}

DeviceAddr Allocator::get_base_allocator_addr(const HalMemType& mem_type) const {
    return impl
        ->memory()[mem_type == HalMemType::L1 ? ttmem::allocator::PoolKind::l1
                                              : ttmem::allocator::PoolKind::dram]
        .base;
}

uint32_t Allocator::get_alignment(BufferType buffer_type) const {
    return impl->memory()[pool_of(buffer_type)].page_alignment;
}

size_t Allocator::get_worker_l1_size() const {
    return impl->memory()[ttmem::allocator::PoolKind::l1_small].end();
}

Statistics Allocator::get_statistics(const BufferType& buffer_type) const {
    return impl->get_statistics(buffer_type);
}

}  // namespace tt::tt_metal
