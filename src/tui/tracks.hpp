// SPDX-License-Identifier: Apache-2.0
#pragma once

// Values over time, for charts and trends: an hour of them, as fine as a chart can show. A track has all its memory from its
// first value on, so that a dashboard that is open all day does not grow.

#include <algorithm>
#include <array>
#include <boost/circular_buffer.hpp>
#include <cstdint>
#include <optional>
#include <vector>

namespace ttmem::tui {

constexpr uint64_t kSecondNs = 1'000'000'000;
constexpr uint64_t kHourNs = 3600 * kSecondNs;

struct TrackPoint {
    uint64_t time_ns = 0;
    double value = 0;

    bool operator==(const TrackPoint&) const = default;
};

// The highest value in each of `count` equal parts of a span; a part without a value of its own has that of the one before it, and
// nothing before the first of all.
template <class Points>
std::vector<std::optional<double>> columns_of(const Points& points, uint64_t from_ns, uint64_t to_ns,
                                              size_t count);

class Track {
public:
    Track();

    // A time that goes back is passed over, or counts to the last value where it is within the same step.
    void add(uint64_t time_ns, double value);

    // What somebody else remembers of the time before the first value here.
    void put_before(const std::vector<TrackPoint>& samples);

    std::optional<double> last() const;

    // As columns_of() all of them.
    std::vector<std::optional<double>> columns(uint64_t from_ns, uint64_t to_ns, size_t count) const;

private:
    using TrackPoints = boost::circular_buffer<TrackPoint>;

    // The values of the last `span_ns`, and the one before them; those less than a step apart become one, the highest of them.
    struct Level {
        void add(const TrackPoint& sample);

        uint64_t step_ns;
        uint64_t span_ns;
        TrackPoints samples;
    };

    const TrackPoints& finest_since(uint64_t from_ns) const;

    std::array<Level, 3> levels_;  // finest first
};

template <class Points>
std::vector<std::optional<double>> columns_of(const Points& points, uint64_t from_ns, uint64_t to_ns,
                                              size_t count) {
    std::vector<std::optional<double>> result(count);
    if (count == 0 || to_ns <= from_ns) {
        return result;
    }
    std::optional<double> before;
    const double part = static_cast<double>(to_ns - from_ns) / static_cast<double>(count);
    for (const TrackPoint& sample : points) {
        if (sample.time_ns < from_ns) {
            before = sample.value;
            continue;
        }
        if (sample.time_ns > to_ns) {
            break;
        }
        const auto at =
            std::min(static_cast<size_t>(static_cast<double>(sample.time_ns - from_ns) / part), count - 1);
        result[at] = result[at] ? std::max(*result[at], sample.value) : sample.value;
    }
    for (std::optional<double>& value : result) {
        value = value ? value : before;
        before = value;
    }
    return result;
}

}  // namespace ttmem::tui
