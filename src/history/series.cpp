// SPDX-License-Identifier: Apache-2.0
#include "history/series.hpp"

#include <algorithm>

namespace ttmem::history {

void Series::add(Sample sample) {
    if (!seconds_.empty()) {
        sample.time_ns = std::max(sample.time_ns, seconds_.back().time_ns);
    }
    seconds_.push_back(sample);
    if (seconds_.size() <= kSeconds) {
        return;
    }
    const Sample old = seconds_.front();
    seconds_.pop_front();
    if (!minutes_.empty() && minutes_.back().time_ns / kMinuteNs == old.time_ns / kMinuteNs) {
        if (old.value >= minutes_.back().value) {
            minutes_.back() = old;
        }
        return;
    }
    minutes_.push_back(old);
    if (minutes_.size() > kMinutes) {
        minutes_.pop_front();
    }
}

std::vector<Sample> Series::since(uint64_t time_ns) const {
    std::vector<Sample> result;
    for (const std::deque<Sample>* part : {&minutes_, &seconds_}) {
        const auto first =
            std::lower_bound(part->begin(), part->end(), time_ns,
                             [](const Sample& sample, uint64_t time) { return sample.time_ns < time; });
        result.insert(result.end(), first, part->end());
    }
    return result;
}

void keep_highest(std::vector<Sample>& samples, uint64_t period_ns) {
    if (period_ns == 0) {
        return;
    }
    size_t kept = 0;
    for (const Sample& sample : samples) {
        if (kept == 0 || samples[kept - 1].time_ns / period_ns != sample.time_ns / period_ns) {
            samples[kept++] = sample;
        } else if (sample.value > samples[kept - 1].value) {
            samples[kept - 1] = sample;
        }
    }
    samples.resize(kept);
}

}  // namespace ttmem::history
