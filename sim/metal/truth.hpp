// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "allocator/free_list.hpp"

namespace ttmem::sim {

struct MemoryTruth {
    uint64_t used = 0;       // reserved by the allocators
    uint64_t requested = 0;  // logical bytes
    std::optional<uint64_t> capacity = {};
    std::optional<uint64_t> largest_free = {};  // per bank; the minimum over several allocators
    std::vector<std::vector<allocator::BankBlock>> blocks = {};  // per allocator, if requested
};

struct DeviceTruth {
    int id = 0;
    uint64_t asic_id = 0;
    std::map<std::string, MemoryTruth> memory = {};  // by kind: dram, l1, l1_small, trace, cb, kernel
};

// The runtime's own knowledge of its chips: the statistics of every allocator of a chip's memory, and the programs on it.
// It is independent of the reports to ttmem, so tests can compare the two.
std::vector<DeviceTruth> device_truth(const std::vector<int>& chips, bool with_blocks = false);

}  // namespace ttmem::sim
