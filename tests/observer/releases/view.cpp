// SPDX-License-Identifier: Apache-2.0
#include "release.hpp"

#if HAS_ALLOCATOR_VIEW
namespace tt::tt_metal {

uint32_t Allocator::get_num_banks(const BufferType& type) const { return impl_->get_num_banks(type); }
uint64_t Allocator::get_base_allocator_addr(const HalMemType& type) const {
    return impl_->get_base_allocator_addr(type);
}
uint32_t Allocator::get_alignment(BufferType type) const { return impl_->get_alignment(type); }
Statistics Allocator::get_statistics(const BufferType& type) const { return impl_->get_statistics(type); }
void Allocator::deallocate_buffers() {
#if defined(MUTATION_DEALLOCATE_INLINED)
    impl_->free_all();
#else
    impl_->deallocate_buffers();
#endif
}

}  // namespace tt::tt_metal
#endif
