// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

namespace tt::tt_metal::reporting {

// Maps each layout of each program on each device to its records of circular buffers. A program that is laid out again, or
// that ends, removes only its own records, although all programs start at the same address.
class CircularBufferRecords {
public:
    static CircularBufferRecords& instance();

    // A new layout of a program on a device first removes the records of the old layout.
    void add(uint32_t set, uint64_t program, uint64_t layout, const std::function<uint64_t()>& record);
    void free(uint32_t set, uint64_t program);

    // The device was closed, which removed its records already.
    void forget_set(uint32_t set);

private:
    struct Layout {
        uint64_t number = 0;
        std::vector<uint64_t> handles;
    };

    std::mutex mutex_;
    std::map<std::pair<uint32_t, uint64_t>, Layout> layouts_;  // by set and program
};

}  // namespace tt::tt_metal::reporting
