// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace tt::tt_metal {

class IDevice;
enum class BufferType;

using MemoryBlockTable = std::vector<std::unordered_map<std::string, std::string>>;

namespace detail {

struct MemoryView {
    uint64_t num_banks = 0;
    size_t total_bytes_per_bank = 0;
    size_t total_bytes_allocated_per_bank = 0;
    size_t total_bytes_free_per_bank = 0;
    size_t largest_contiguous_bytes_free_per_bank = 0;
    MemoryBlockTable block_table;
};

MemoryView GetMemoryView(const IDevice* device, const BufferType& buffer_type);

}  // namespace detail

}  // namespace tt::tt_metal
