// SPDX-License-Identifier: Apache-2.0
#include "tui/tracks.hpp"

#include <algorithm>

namespace ttmem::tui {

// The widest chart has 600 parts: of the longest span that a level serves, each is as long as its step.
Track::Track()
    : levels_{Level{kSecondNs / 5, 300 * kSecondNs, TrackPoints()},
              Level{kSecondNs * 3 / 2, 900 * kSecondNs, TrackPoints()},
              Level{6 * kSecondNs, kHourNs, TrackPoints()}} {}

void Track::Level::add(const TrackPoint& sample) {
    if (samples.capacity() == 0) {
        samples = TrackPoints(span_ns / step_ns + 2, TrackPoint{});
        samples.clear();  // and keeps the memory, which is touched by now
    }
    // The last value of a coarse level may be newer than that of the finest, to which Track::add() compares.
    if (!samples.empty() && sample.time_ns < samples.back().time_ns + step_ns) {
        samples.back().value = std::max(samples.back().value, sample.value);
        return;
    }
    samples.push_back(sample);
    while (samples.size() > 1 && samples[1].time_ns + span_ns <= sample.time_ns) {
        samples.pop_front();
    }
}

void Track::add(uint64_t time_ns, double value) {
    const TrackPoints& finest = levels_.front().samples;
    if (!finest.empty() && time_ns < finest.back().time_ns) {
        return;
    }
    for (Level& level : levels_) {
        level.add({time_ns, value});
    }
}

void Track::put_before(const std::vector<TrackPoint>& samples) {
    for (Level& level : levels_) {
        const std::vector<TrackPoint> own(level.samples.begin(), level.samples.end());
        const uint64_t first = own.empty() ? UINT64_MAX : own.front().time_ns;
        level.samples.clear();
        for (const TrackPoint& sample : samples) {
            const bool is_late = !level.samples.empty() && sample.time_ns < level.samples.back().time_ns;
            if (sample.time_ns < first && !is_late) {
                level.add(sample);
            }
        }
        for (const TrackPoint& sample : own) {
            level.add(sample);
        }
    }
}

std::optional<double> Track::last() const {
    const TrackPoints& finest = levels_.front().samples;
    return finest.empty() ? std::nullopt : std::optional(finest.back().value);
}

const Track::TrackPoints& Track::finest_since(uint64_t from_ns) const {
    const auto* level = levels_.begin();
    while (level + 1 != levels_.end() && !level->samples.empty() &&
           level->samples.back().time_ns > from_ns + level->span_ns) {
        ++level;
    }
    return level->samples;
}

std::vector<std::optional<double>> Track::columns(uint64_t from_ns, uint64_t to_ns, size_t count) const {
    return columns_of(finest_since(from_ns), from_ns, to_ns, count);
}

}  // namespace ttmem::tui
