// SPDX-License-Identifier: Apache-2.0
#pragma once

// Values over time for a chart, in bounded memory: one a second for an hour, and before that one a minute for a day. A
// minute keeps the highest of its values, because a peak is what a chart of memory is looked at for.

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

    // Times must not go back; one that does is put at the time of the last.
    void add(Sample sample);

    // Everything at or after a time, oldest first.
    std::vector<Sample> since(uint64_t time_ns) const;

private:
    std::deque<Sample> minutes_;
    std::deque<Sample> seconds_;
};

}  // namespace ttmem::history
