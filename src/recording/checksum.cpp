// SPDX-License-Identifier: Apache-2.0
#include "recording/checksum.hpp"

#include <array>
#include <cstddef>

namespace ttmem::recording {

namespace {

// Table k has the effect of a byte that is followed by k zero bytes, so that eight bytes are taken at once.
using Tables = std::array<std::array<uint32_t, 256>, 8>;

constexpr Tables make_tables() {
    Tables tables{};
    for (uint32_t byte = 0; byte < 256; ++byte) {
        uint32_t value = byte;
        for (int bit = 0; bit < 8; ++bit) {
            value = (value & 1) != 0 ? value >> 1 ^ 0xedb8'8320u : value >> 1;
        }
        tables[0][byte] = value;
    }
    for (size_t k = 1; k < tables.size(); ++k) {
        for (size_t byte = 0; byte < 256; ++byte) {
            const uint32_t before = tables[k - 1][byte];
            tables[k][byte] = before >> 8 ^ tables[0][before & 0xff];
        }
    }
    return tables;
}
constexpr Tables kTables = make_tables();

uint32_t byte_at(std::string_view bytes, size_t i) { return static_cast<uint8_t>(bytes[i]); }

}  // namespace

uint32_t checksum_of(std::string_view bytes) {
    uint32_t sum = 0xffff'ffffu;
    size_t i = 0;
    for (; i + 8 <= bytes.size(); i += 8) {
        const uint32_t first = sum ^ (byte_at(bytes, i) | byte_at(bytes, i + 1) << 8 |
                                      byte_at(bytes, i + 2) << 16 | byte_at(bytes, i + 3) << 24);
        sum = kTables[7][first & 0xff] ^ kTables[6][first >> 8 & 0xff] ^ kTables[5][first >> 16 & 0xff] ^
              kTables[4][first >> 24] ^ kTables[3][byte_at(bytes, i + 4)] ^
              kTables[2][byte_at(bytes, i + 5)] ^ kTables[1][byte_at(bytes, i + 6)] ^
              kTables[0][byte_at(bytes, i + 7)];
    }
    for (; i < bytes.size(); ++i) {
        sum = sum >> 8 ^ kTables[0][(sum ^ byte_at(bytes, i)) & 0xff];
    }
    return ~sum;
}

}  // namespace ttmem::recording
