// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace ttmem::history {

// When the rings of a process are scanned next. The wait aims at some thousand events per scan, and doubles after each scan
// that found none. Polling without a wait would triple the cost of an event for its writer.
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

    // The time of the next scan, after one that found so many events. Processes without a hurry are scanned at the same times,
    // so that the thread wakes rarely.
    uint64_t next_scan_ns(uint64_t now_ns, uint64_t events) {
        const Milliseconds wait = after(events);
        const uint64_t next_ns = now_ns + nanoseconds(wait);
        return wait < kLongestBusy ? next_ns : next_ns - next_ns % nanoseconds(kLongestBusy);
    }

private:
    static constexpr uint64_t nanoseconds(std::chrono::nanoseconds time) {
        return static_cast<uint64_t>(time.count());
    }

    Milliseconds wait_ = kShortest;
};

}  // namespace ttmem::history
