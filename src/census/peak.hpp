// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "census/process.hpp"

namespace ttmem::census {

// One pool that has held memory on a device. Its own peak is exact.
struct PoolPeak {
    size_t process = 0;
    uint64_t opened_ticks = 0;  // of the process's clock
    uint64_t closed_ticks = 0;  // 0: open
    uint64_t used = 0;
    uint64_t peak = 0;
    Lifetime lifetime = {};  // of the process
};

struct Peak {
    uint64_t bytes = 0;
    bool exact = true;
    uint64_t at_most = 0;  // an upper bound; `bytes` if exact
};

// Combines the peaks of pools into the peak of a device. Exact if no two pools can have held memory at the same time:
// pools of one process, which follow each other in the list, by their ticks, processes by their lifetimes. Else `bytes` is a lower bound: the highest peak, or
// the current sum if that is higher.
Peak combine(const std::vector<PoolPeak>& pools);

}  // namespace ttmem::census
