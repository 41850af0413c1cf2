// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <stdexcept>
#include <umd/device/types/arch.hpp>

namespace tt {

// The formats that the scenarios use; the numbers are the hardware's.
enum class DataFormat : uint8_t {
    Float32 = 0,
    Float16 = 1,
    Bfp8 = 2,
    Float16_b = 5,
    Bfp8_b = 6,
    Bfp4_b = 7,
    Int32 = 8,
    UInt16 = 9,
    UInt32 = 24,
    UInt8 = 30,
    Invalid = 255
};

// Bytes of a tile of 32 x 32. Block formats have one exponent of a byte for 16 numbers.
constexpr uint32_t tile_size(const DataFormat& format) {
    switch (format) {
        case DataFormat::Bfp4_b:
            return 512 + 64;
        case DataFormat::Bfp8:
        case DataFormat::Bfp8_b:
            return 1024 + 64;
        case DataFormat::UInt8:
            return 1024;
        case DataFormat::Float16:
        case DataFormat::Float16_b:
        case DataFormat::UInt16:
            return 2048;
        case DataFormat::Float32:
        case DataFormat::Int32:
        case DataFormat::UInt32:
            return 4096;
        case DataFormat::Invalid:
            break;
    }
    throw std::invalid_argument("a tile of this data format has no size");
}

}  // namespace tt
