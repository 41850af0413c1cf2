// SPDX-License-Identifier: Apache-2.0
#pragma once

// How long the loop and the polling threads may compute answers, because they serve other clients meanwhile: half of the time,
// and at most a few milliseconds in succession. Questions beyond that go to the workers.

#include <algorithm>
#include <cstdint>
#include <mutex>

namespace ttmem::daemon {

// Thread-safe.
class QuestionTime {
public:
    // Whether a computation may begin now, on the monotonic clock.
    bool has_room(uint64_t now_ns) {
        const std::lock_guard lock(mutex_);
        const uint64_t passed = std::min(now_ns - std::min(now_ns, last_ns_), kLongestPauseNs);
        last_ns_ = std::max(last_ns_, now_ns);
        saved_ns_ = std::min(saved_ns_ + static_cast<int64_t>(passed / 2), kMostNs);
        return saved_ns_ > 0;
    }

    // A computation took that long. One that took too long is paid off before the next one begins.
    void spend(uint64_t ns) {
        const std::lock_guard lock(mutex_);
        saved_ns_ -= static_cast<int64_t>(std::min(ns, kLongestPauseNs));
    }

private:
    static constexpr int64_t kMostNs = 5'000'000;
    static constexpr uint64_t kLongestPauseNs = 10'000'000'000;

    std::mutex mutex_;
    uint64_t last_ns_ = 0;
    int64_t saved_ns_ = kMostNs;
};

}  // namespace ttmem::daemon
