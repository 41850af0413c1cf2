// SPDX-License-Identifier: Apache-2.0
#include "allocator/tensor.hpp"

#include <charconv>

namespace ttmem::allocator {

namespace {

constexpr uint64_t kTileSide = 32;
constexpr uint64_t kTileElements = kTileSide * kTileSide;
constexpr uint64_t kMostDimensions = 8;

// Block formats have one exponent of a byte for 16 numbers.
constexpr uint64_t kTileExponents = kTileElements / 16;

constexpr uint64_t bytes_of_tile(DataType type) {
    switch (type) {
        case DataType::float32:
        case DataType::uint32:
        case DataType::int32:
            return kTileElements * 4;
        case DataType::bfloat16:
        case DataType::uint16:
            return kTileElements * 2;
        case DataType::uint8:
            return kTileElements;
        case DataType::bfloat8_b:
            return kTileElements + kTileExponents;
        case DataType::bfloat4_b:
            return kTileElements / 2 + kTileExponents;
    }
    return 0;
}

constexpr bool is_block_format(DataType type) {
    return type == DataType::bfloat8_b || type == DataType::bfloat4_b;
}

}  // namespace

TensorPages pages_of_bytes(uint64_t bytes, uint64_t page_size) {
    return {divide_up(bytes, page_size == 0 ? 1 : page_size), 1, page_size};
}

base::Expected<std::vector<uint64_t>> parse_shape(std::string_view text) {
    std::vector<uint64_t> shape;
    const char* at = text.data();
    const char* const end = at + text.size();
    while (shape.size() < kMostDimensions) {
        uint64_t number = 0;
        const auto [next, problem] = std::from_chars(at, end, number);
        if (problem != std::errc() || number == 0) {
            break;
        }
        shape.push_back(number);
        if (next == end) {
            return shape;
        }
        if (*next != ',') {
            break;
        }
        at = next + 1;
    }
    return base::error(base::Error::Code::refused,
                       "shape '" + std::string(text) +
                           "': must be one to eight numbers of at least 1, such as 1,32,4096,4096");
}

base::Expected<TensorPages> pages_of_tensor(const std::vector<uint64_t>& shape, DataType type,
                                            TensorLayout layout) {
    const uint64_t width = shape.empty() ? 1 : shape.back();
    const bool is_tiled = layout == TensorLayout::tile;
    if (!is_tiled && is_block_format(type)) {
        return base::error(base::Error::Code::refused,
                           std::string(name_of(type)) + " has no rows: its layout must be tile");
    }
    const uint64_t height = shape.size() < 2 ? 1 : shape[shape.size() - 2];
    TensorPages pages{.rows = is_tiled ? divide_up(height, kTileSide) : height};
    for (size_t i = 0; i + 2 < shape.size(); ++i) {
        pages.rows = multiply_or_most(pages.rows, shape[i]);
    }
    pages.pages_per_row = is_tiled ? divide_up(width, kTileSide) : 1;
    pages.page_size =
        is_tiled ? bytes_of_tile(type) : multiply_or_most(width, bytes_of_tile(type) / kTileElements);
    return pages;
}

BufferRequest request_of(const TensorPages& tensor, PoolKind pool, uint32_t cores,
                         std::optional<bool> bottom_up) {
    BufferRequest request{.pool = pool,
                          .pages = tensor.pages(),
                          .page_size = tensor.page_size,
                          .shard_cores = cores,
                          .bottom_up = bottom_up};
    if (cores != 0) {
        const uint64_t pages_per_core = multiply_or_most(divide_up(tensor.rows, cores), tensor.pages_per_row);
        request.pages = multiply_or_most(pages_per_core, cores);
    }
    return request;
}

}  // namespace ttmem::allocator
