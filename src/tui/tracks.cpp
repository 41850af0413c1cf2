// SPDX-License-Identifier: Apache-2.0
#include "tui/tracks.hpp"

#include <algorithm>

namespace ttmem::tui {

namespace {

constexpr uint64_t kNearest = kSecondNs / 5;  // between two values
constexpr size_t kMost = 3600 * 5;            // an hour at that pace

}  // namespace

void Track::add(uint64_t time_ns, double value) {
    if (!samples_.empty() && time_ns < samples_.back().time_ns) {
        return;
    }
    if (!samples_.empty() && time_ns - samples_.back().time_ns < kNearest) {
        samples_.back().value = std::max(samples_.back().value, value);
        return;
    }
    samples_.push_back({time_ns, value});
    forget(time_ns);
}

void Track::put_before(const std::vector<Sample>& samples) {
    const uint64_t first = samples_.empty() ? UINT64_MAX : samples_.front().time_ns;
    std::vector<Sample> before;
    std::copy_if(samples.begin(), samples.end(), std::back_inserter(before),
                 [&](const Sample& sample) { return sample.time_ns < first; });
    samples_.insert(samples_.begin(), before.begin(), before.end());
    if (!samples_.empty()) {
        forget(samples_.back().time_ns);
    }
}

void Track::forget(uint64_t now_ns) {
    while (samples_.size() > kMost || samples_.front().time_ns + kHourNs < now_ns) {
        samples_.pop_front();
    }
}

std::optional<double> Track::last() const {
    return samples_.empty() ? std::nullopt : std::optional(samples_.back().value);
}

std::vector<std::optional<double>> Track::columns(uint64_t from_ns, uint64_t to_ns, size_t count) const {
    std::vector<std::optional<double>> result(count);
    if (count == 0 || to_ns <= from_ns) {
        return result;
    }
    std::optional<double> before;
    const double part = static_cast<double>(to_ns - from_ns) / static_cast<double>(count);
    for (const Sample& sample : samples_) {
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
