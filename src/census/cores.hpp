// SPDX-License-Identifier: Apache-2.0
#pragma once

// L1 per core: the end of the circular buffers on each core, and its distance to the lowest L1 buffer.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "census/census.hpp"
#include "census/figures.hpp"

namespace ttmem::census {

// The values of WorstCore for any core.
struct CoreFigures {
    Core core;
    std::optional<uint64_t> cb_top;  // absent: the core has no circular buffer
    std::optional<uint64_t> used;
    std::optional<int64_t> headroom;
    // Of the circular buffer that ends highest on the core:
    std::optional<uint32_t> pid = {};      // its process; absent: the core has no circular buffer
    std::optional<uint64_t> program = {};  // the runtime's id of its program; absent: not reported
    std::string name = {};

    bool operator==(const CoreFigures&) const = default;
};

struct CoreGrid {
    std::optional<Core> size;               // columns and rows; absent: not reported
    std::optional<uint64_t> capacity;       // allocatable L1 per core
    std::optional<uint64_t> lowest_buffer;  // the same on every core
    uint64_t without_cores = 0;             // circular buffers whose cores are not known
    // Row by row. If the size is not known, only cores with circular buffers.
    std::vector<CoreFigures> cores;

    bool operator==(const CoreGrid&) const = default;
};

// Covers all processes on one device. Returns an error if the device does not exist.
base::Expected<CoreGrid> map_cores(const Census& census, const std::string& device);

}  // namespace ttmem::census
