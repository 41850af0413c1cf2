// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace ttmem::history {

// The wait before the next scan of the rings. It aims at some thousand events per scan, and doubles after each scan that
// found none. Polling without a wait would triple the cost of an event for its writer.
class Pace {
public:
    using Milliseconds = std::chrono::milliseconds;
    static constexpr Milliseconds kShortest{5};
    static constexpr Milliseconds kLongestBusy{20};
    static constexpr Milliseconds kLongest{100};
    static constexpr uint64_t kEventsPerScan = 2048;  // an eighth of a ring

    Milliseconds after(uint64_t events) {
        if (events == 0) {
            wait_ = std::min(wait_ * 2, kLongest);
        } else {
            const uint64_t aim = static_cast<uint64_t>(wait_.count()) * kEventsPerScan / events;
            wait_ = Milliseconds(std::clamp(aim, static_cast<uint64_t>(kShortest.count()),
                                            static_cast<uint64_t>(kLongestBusy.count())));
        }
        return wait_;
    }

private:
    Milliseconds wait_ = kShortest;
};

}  // namespace ttmem::history
