// SPDX-License-Identifier: Apache-2.0
#pragma once

// Numbers and texts as bytes. Numbers are LEB128: seven bits per byte, the lowest first, the top bit set in all but the last.

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace ttmem::recording {

constexpr uint64_t zigzag(uint64_t difference) {
    return difference << 1 ^ static_cast<uint64_t>(static_cast<int64_t>(difference) >> 63);
}
constexpr uint64_t unzigzag(uint64_t number) { return number >> 1 ^ (0 - (number & 1)); }

class ByteWriter {
public:
    void number(uint64_t value) {
        while (value >= 0x80) {
            bytes_.push_back(static_cast<char>(value | 0x80));
            value >>= 7;
        }
        bytes_.push_back(static_cast<char>(value));
    }
    // The difference of two numbers, modulo 2^64, small if it is near 0 from either side.
    void difference(uint64_t value) { number(zigzag(value)); }
    void text(std::string_view value) {
        number(value.size());
        bytes_.append(value);
    }
    void append(std::string_view value) { bytes_.append(value); }
    void byte(uint8_t value) { bytes_.push_back(static_cast<char>(value)); }

    const std::string& bytes() const { return bytes_; }
    void clear() { bytes_.clear(); }

private:
    std::string bytes_;
};

// Reads hostile bytes: beyond the end every number is 0 and every text empty, and is_good() says so.
class ByteReader {
public:
    explicit ByteReader(std::string_view bytes) : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

    uint64_t number() {
        uint64_t value = 0;
        for (unsigned shift = 0; shift < 64 && at_ != end_; shift += 7) {
            const auto byte = static_cast<uint8_t>(*at_++);
            value |= uint64_t{byte & 0x7fu} << shift;
            if (byte < 0x80) {
                return value;
            }
        }
        is_good_ = false;
        return 0;
    }
    uint64_t difference() { return unzigzag(number()); }
    std::string_view text() {
        const uint64_t length = number();
        if (length > left()) {
            is_good_ = false;
            at_ = end_;
            return {};
        }
        const std::string_view value(at_, length);
        at_ += length;
        return value;
    }
    uint8_t byte() {
        if (at_ == end_) {
            is_good_ = false;
            return 0;
        }
        return static_cast<uint8_t>(*at_++);
    }

    uint64_t left() const { return static_cast<uint64_t>(end_ - at_); }
    bool is_good() const { return is_good_; }

private:
    const char* at_;
    const char* end_;
    bool is_good_ = true;
};

}  // namespace ttmem::recording
