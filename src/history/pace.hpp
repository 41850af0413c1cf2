// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace ttmem::history {

// How long to wait until the next look at the rings: short while there is something to read, longer and longer while
// there is not. Never a busy loop: that would triple the cost of an event for its writer.
class Pace {
public:
    using Milliseconds = std::chrono::milliseconds;
    static constexpr Milliseconds kShortest{5};
    static constexpr Milliseconds kLongest{100};

    Milliseconds after(uint64_t events) {
        wait_ = events != 0 ? kShortest : std::min(wait_ * 2, kLongest);
        return wait_;
    }

private:
    Milliseconds wait_ = kShortest;
};

}  // namespace ttmem::history
