// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ttmem::census {

// One pool that has held something on a device. Its own peak is exact.
struct PoolPeak {
    size_t process = 0;  // ticks of different processes don't compare
    uint64_t opened_ticks = 0;
    uint64_t closed_ticks = 0;  // 0: open
    uint64_t used = 0;
    uint64_t peak = 0;
};

struct Peak {
    uint64_t bytes = 0;
    bool exact = true;
};

// The peak of a device from those of its pools. Exact where no two of them can have held something at the same time;
// else a lower bound: the highest of them, or what they hold together now if that is more.
Peak combine(const std::vector<PoolPeak>& pools);

}  // namespace ttmem::census
