// SPDX-License-Identifier: Apache-2.0
#pragma once

// The name: written once and never changed. First the bytes, then the word with their number; a reader that sees the
// length (acquire) sees the bytes. Names form a tree: each has a parent, so "decoder.3/ttnn::matmul" is the name
// "ttnn::matmul" inside "decoder.3". Id 0 is the empty name, the root.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "segment/limits.hpp"

namespace ttmem::segment {

struct NameOrders {
    static constexpr auto bytes_store = std::memory_order_relaxed;
    static constexpr auto length_store = std::memory_order_release;
    static constexpr auto length_load = std::memory_order_acquire;
    static constexpr auto bytes_load = std::memory_order_relaxed;
};

constexpr size_t kNameWords = kMaxNameBytes / sizeof(uint64_t);

template <class Word, size_t kByteWords = kNameWords, class Orders = NameOrders>
struct BasicName {
    //     63                    32 31                     0
    //     | parent                | length                 |    length 0: not written yet
    Word length_and_parent;
    Word bytes[kByteWords];

    // SYNC POINT: with read().
    void publish(const char* text, uint32_t length, uint32_t parent) {
        for (size_t i = 0; i * sizeof(uint64_t) < length; ++i) {
            const size_t at = i * sizeof(uint64_t);
            uint64_t chunk = 0;
            std::memcpy(&chunk, text + at, length - at < sizeof chunk ? length - at : sizeof chunk);
            bytes[i].store(chunk, Orders::bytes_store);
        }
        length_and_parent.store(uint64_t{parent} << 32 | length, Orders::length_store);
    }

    // Returns the length, 0 where there is no name yet; never more than fits, whatever the word says.
    // SYNC POINT: with publish().
    uint32_t read(char (&text)[kByteWords * sizeof(uint64_t)], uint32_t& parent) const {
        const uint64_t word = length_and_parent.load(Orders::length_load);
        uint32_t length = static_cast<uint32_t>(word);
        if (length > sizeof text) {
            length = sizeof text;
        }
        for (size_t i = 0; i * sizeof(uint64_t) < length; ++i) {
            const uint64_t chunk = bytes[i].load(Orders::bytes_load);
            std::memcpy(text + i * sizeof chunk, &chunk, sizeof chunk);
        }
        parent = static_cast<uint32_t>(word >> 32);
        return length;
    }
};

}  // namespace ttmem::segment
