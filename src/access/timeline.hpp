// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a recording has from its beginning to its end: how much was in use, and when something happened. The peaks and
// points come first, then part after part. Times are nanoseconds of the monotonic clock of the recorded host.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "recording/peaks.hpp"
#include "recording/recording.hpp"

namespace ttmem::access {

struct TimelinePoint {
    enum class PointType : uint8_t { start, end, gap, failure, mark };

    PointType type = PointType::start;
    uint64_t time_ns = 0;
    uint32_t pid = 0;
    std::string name;  // of a mark; of a failure its kind

    auto operator<=>(const TimelinePoint&) const = default;
};

struct TimelineDevice {
    uint32_t id = 0;
    uint64_t used_dram = 0;
    std::optional<uint64_t> l1_core;  // used bytes of the fullest core; absent where that is not known

    bool operator==(const TimelineDevice&) const = default;
};

// One of the equal parts of a recording.
struct TimelinePart {
    uint64_t used_dram = 0;               // the highest sum of all sets
    std::vector<TimelineDevice> devices;  // at its end

    bool operator==(const TimelinePart&) const = default;
};

// The fullest core needs a scan of all live allocations. Parts that end with more of them leave it out.
constexpr uint64_t kMostScanned = 20'000;

struct Timeline {
    uint64_t first_ns = 0;
    uint64_t last_ns = 0;
    uint64_t epoch_offset_ns = 0;       // a time since the epoch is the monotonic time plus this
    size_t part_count = 0;              // when all is read
    std::vector<TimelinePart> parts;    // those that have been read so far
    std::vector<TimelinePoint> points;  // by time; gaps only of the parts that have been read
    recording::RecordedPeaks peaks;     // the moments that recording/moment.hpp calls peak:KIND
    bool has_moments = false;           // the peaks and the points are known

    uint64_t length_ns() const { return last_ns - first_ns; }
    bool is_complete() const { return parts.size() == part_count; }
    // The end of a part.
    uint64_t end_of(size_t part) const;

    bool operator==(const Timeline&) const = default;
};

// Without any part yet.
Timeline empty_timeline(const recording::Recording& recording, size_t part_count);

// Calls `more` from time to time with what has been read; it stops the reading by returning false.
base::Expected<Timeline> read_timeline(const std::shared_ptr<const recording::Recording>& recording,
                                       size_t part_count, const std::function<bool(const Timeline&)>& more);

}  // namespace ttmem::access
