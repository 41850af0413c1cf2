// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace ttmem::history {

// The wait before the next scan of the rings. It is short after a scan that found events, and doubles after each scan
// that found none. Polling without a wait would triple the cost of an event for its writer.
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
