// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/free_list.hpp"

namespace ttmem::sim {

struct MemoryTruth {
    std::uint64_t used = 0;       // what the allocators have given away
    std::uint64_t requested = 0;  // what was asked for
    std::optional<std::uint64_t> capacity = {};
    std::optional<std::uint64_t> largest_free =
        {};                                       // in one bank; with several allocators the least of theirs
    std::vector<std::vector<Block>> blocks = {};  // of each allocator, where they were asked for
};

struct DeviceTruth {
    int id = 0;
    std::uint64_t asic_id = 0;
    std::map<std::string, MemoryTruth> memory = {};  // by kind: dram, l1, l1_small, trace, cb, kernel
};

// What the runtime itself knows of its chips: the statistics of every allocator that gives away memory of a chip, and
// the programs that live on it. Nothing of it comes from what is reported to ttmem, which is held against it.
[[nodiscard]] std::vector<DeviceTruth> device_truth(const std::vector<int>& chips, bool with_blocks = false);

}  // namespace ttmem::sim
