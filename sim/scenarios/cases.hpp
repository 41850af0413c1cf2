// SPDX-License-Identifier: Apache-2.0
#pragma once

// Failures that users of tt-metal met, with their numbers: each fills a pool as it was, makes the request that was refused, then does
// the cheapest thing that lets it through, and makes the request again. Then it does the other things that are proposed. Steps:
// "full", "refused", "fits", "fits in ..." or "fits without ..." for each other thing, "close".

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "sim/geometry.hpp"
#include "sim/scenarios/ops.hpp"

namespace ttmem::sim {

class Run;

// A request that an allocator refuses. Bytes are per bank, but for `bytes`.
struct RefusedCase {
    ops::BufferType type = ops::BufferType::DRAM;
    uint64_t bytes = 0;  // of the request
    uint64_t page = ops::kTilePage;
    uint32_t cores = 0;  // 0: interleaved
    uint64_t free = 0;
    uint64_t largest = 0;      // of the free blocks
    RegionSizes regions = {};  // when the device is opened
};

void run_refused_case(Run& run, const RefusedCase& refused);

// A request that is larger than a bank. It fits after the device is opened again with other regions, or over more cores.
struct TooBigCase {
    RefusedCase request;
    RegionSizes other_regions = {};
    uint32_t more_cores = 0;
};

void run_too_big_case(Run& run, const TooBigCase& too_big);

// A program whose circular buffers reach into a tensor, or beyond L1. It runs when its largest circular buffer is smaller, and
// without the tensor.
struct ClashCase {
    uint64_t tensor = 0;                          // bytes per bank; 0: none
    std::vector<uint32_t> circular_buffers = {};  // the last one reaches too far
    uint32_t too_long = 0;                        // bytes; 0: the program runs at once
    ops::CoreRange cores = {{0, 0}, {3, 3}};
    uint64_t l1_small = 0;
    std::optional<uint64_t> other_l1_small = {};  // with which the program runs as it is
};

void run_clash_case(Run& run, const ClashCase& clash);

}  // namespace ttmem::sim
