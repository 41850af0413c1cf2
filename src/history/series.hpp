// SPDX-License-Identifier: Apache-2.0
#pragma once

// Values over time for a chart, in bounded memory: one per second for the last hour, and one per minute for the day
// before that. A minute keeps its highest value, because charts of memory must show peaks.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

namespace ttmem::history {

struct Sample {
    uint64_t time_ns = 0;
    uint64_t value = 0;

    bool operator==(const Sample&) const = default;
};

class Series {
public:
    static constexpr size_t kSeconds = 3600;
    static constexpr size_t kMinutes = size_t{24} * 60;
    static constexpr uint64_t kMinuteNs = 60'000'000'000;

    // A sample with an earlier time than the last one gets the time of the last one.
    void add(Sample sample);

    // Samples at or after a time, the oldest first.
    std::vector<Sample> since(uint64_t time_ns) const;

    // 0 without samples.
    uint64_t last_value() const { return seconds_.empty() ? 0 : seconds_.back().value; }

private:
    std::deque<Sample> minutes_;
    std::deque<Sample> seconds_;
};

// Keeps the highest sample of each period; with 0, all.
void keep_highest(std::vector<Sample>& samples, uint64_t period_ns);

}  // namespace ttmem::history
