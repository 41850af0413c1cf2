// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_set>

#include <tt-metalium/hal_types.hpp>

namespace tt::tt_metal {

// All figures are per bank.
struct Statistics {
    size_t total_allocatable_size_bytes = 0;
    size_t total_allocated_bytes = 0;
    size_t total_free_bytes = 0;
    size_t largest_free_block_bytes = 0;
};

class AllocatorImpl;
class Buffer;
enum class BufferType;

// The public interface of an allocator.
class Allocator {
public:
    explicit Allocator(AllocatorImpl* impl);

    void deallocate_buffers();
    std::unordered_set<Buffer*> get_allocated_buffers() const;
    uint32_t get_num_banks(const BufferType& buffer_type) const;
    DeviceAddr get_bank_size(const BufferType& buffer_type) const;
    DeviceAddr get_base_allocator_addr(const HalMemType& mem_type) const;
    uint32_t get_alignment(BufferType buffer_type) const;
    size_t get_worker_l1_size() const;
    Statistics get_statistics(const BufferType& buffer_type) const;

private:
    AllocatorImpl* impl;
};

}  // namespace tt::tt_metal
