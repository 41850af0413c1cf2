// SPDX-License-Identifier: Apache-2.0
#pragma once

// Values over time, for charts and trends, in bounded memory: an hour of them.

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

namespace ttmem::tui {

constexpr uint64_t kSecondNs = 1'000'000'000;
constexpr uint64_t kHourNs = 3600 * kSecondNs;

struct Sample {
    uint64_t time_ns = 0;
    double value = 0;

    bool operator==(const Sample&) const = default;
};

class Track {
public:
    // Values that come very fast become one, the highest of them. Times must not go back: one that does is passed over.
    void add(uint64_t time_ns, double value);

    // What somebody else remembers of the time before the first value here.
    void put_before(const std::vector<Sample>& samples);

    const std::deque<Sample>& samples() const { return samples_; }
    std::optional<double> last() const;

    // The highest value in each of `count` equal parts of a span; a part without a value of its own has that of the one before
    // it, and nothing before the first of all.
    std::vector<std::optional<double>> columns(uint64_t from_ns, uint64_t to_ns, size_t count) const;

private:
    void forget(uint64_t now_ns);

    std::deque<Sample> samples_;
};

}  // namespace ttmem::tui
