// SPDX-License-Identifier: Apache-2.0
#pragma once

// L1 core by core: how high circular buffers reach on each, and how far that is from the lowest L1 buffer.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "census/census.hpp"
#include "census/figures.hpp"

namespace ttmem::census {

// As WorstCore has it, of any core.
struct CoreFigures {
    Core core;
    std::optional<uint64_t> cb_top;  // absent: no circular buffer lies on it
    std::optional<uint64_t> used;
    std::optional<int64_t> headroom;

    bool operator==(const CoreFigures&) const = default;
};

struct CoreGrid {
    std::optional<Core> size;               // how many there are in each direction; absent: nobody told
    std::optional<uint64_t> capacity;       // allocatable L1 of one core
    std::optional<uint64_t> lowest_buffer;  // on every core the same
    uint64_t without_cores = 0;             // circular buffers whose cores are not known
    std::vector<CoreFigures>
        cores;  // row by row: all of the grid, or those with circular buffers where it is not known

    bool operator==(const CoreGrid&) const = default;
};

// Of one device, over all processes. An error where it is not there.
base::Expected<CoreGrid> map_cores(const Census& census, const std::string& device);

}  // namespace ttmem::census
