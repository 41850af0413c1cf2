// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

namespace tt::tt_metal::reporting {

// Which records of circular buffers belong to which layout of which program on which device. A program that is laid out
// again, or that dies, takes its own and no other's, although all start at the same address.
class CircularBufferRecords {
public:
    static CircularBufferRecords& instance();

    // A layout that is new to this program on this device first takes the records of the old one away.
    void add(std::uint32_t set, std::uint64_t program, std::uint64_t layout,
             const std::function<std::uint64_t()>& record);
    void free(std::uint32_t set, std::uint64_t program);

    // The device is closed: its records are gone already.
    void forget_set(std::uint32_t set);

private:
    struct Layout {
        std::uint64_t number = 0;
        std::vector<std::uint64_t> handles;
    };

    std::mutex mutex_;
    std::map<std::pair<std::uint32_t, std::uint64_t>, Layout> layouts_;  // by set and program
};

}  // namespace tt::tt_metal::reporting
