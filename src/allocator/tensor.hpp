// SPDX-License-Identifier: Apache-2.0
#pragma once

// The pages of a tensor: what its shape, data type and layout ask of an allocator.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "allocator/allocator.hpp"
#include "base/error.hpp"
#include "base/named_enum.hpp"

namespace ttmem::allocator {

enum class DataType : uint8_t { bfloat16, float32, uint32, int32, uint16, uint8, bfloat8_b, bfloat4_b };
constexpr auto enum_names(DataType /*of*/) {
    return std::to_array<std::string_view>(
        {"bfloat16", "float32", "uint32", "int32", "uint16", "uint8", "bfloat8_b", "bfloat4_b"});
}

// In tiles of 32 x 32, one page each, or in rows, one page each.
enum class TensorLayout : uint8_t { tile, row_major };
constexpr auto enum_names(TensorLayout /*of*/) {
    return std::to_array<std::string_view>({"tile", "row_major"});
}
using base::name_of;

// Pages in rows. A row is not divided between cores.
struct TensorPages {
    uint64_t rows = 0;
    uint64_t pages_per_row = 0;
    uint64_t page_size = 0;

    uint64_t pages() const { return multiply_or_most(rows, pages_per_row); }
    uint64_t bytes() const { return multiply_or_most(pages(), page_size); }
    bool operator==(const TensorPages&) const = default;
};

// As many pages of one size as the bytes need.
TensorPages pages_of_bytes(uint64_t bytes, uint64_t page_size);

// "1,32,4096,4096": one to eight numbers of at least 1. Returns an error that says what is valid.
base::Expected<std::vector<uint64_t>> parse_shape(std::string_view text);

// Tiles pad the last two dimensions to 32. Returns an error for block formats in rows: they exist in tiles only.
base::Expected<TensorPages> pages_of_tensor(const std::vector<uint64_t>& shape, DataType type,
                                            TensorLayout layout);

// Interleaved over the banks of the pool (cores = 0), or sharded by height: each core gets the same number of rows.
BufferRequest request_of(const TensorPages& tensor, PoolKind pool, uint32_t cores,
                         std::optional<bool> bottom_up);

}  // namespace ttmem::allocator
