// SPDX-License-Identifier: Apache-2.0
#include "history/name_samples.hpp"

#include <algorithm>

#include "segment/clock.hpp"

namespace ttmem::history {

namespace {

constexpr uint64_t kShareOfProcessor = 500;
constexpr uint64_t kLongestStepNs = NameSamples::kSpanNs / 3;

}  // namespace

void NameSamples::add(uint64_t time_ns, const std::vector<census::Process>& processes) {
    if (time_ns < next_ns_ && time_ns + 2 * kSpanNs > next_ns_) {  // a clock that was set back starts anew
        return;
    }
    const uint64_t begin = segment::monotonic_now();
    NameSample sample{time_ns, {}};
    std::map<uint32_t, size_t> by_user;
    size_t all = 0;
    for (const census::Process& process : processes) {
        if (process.is_beyond_share) {
            continue;
        }
        size_t& of_user = by_user[process.identity.uid];
        const size_t room = std::min({kMostPerProcess, kMostPerUser - of_user, kMostPerSample - all});
        if (auto totals = census::totals_by_name(*process.ledger, room, process.slots_to_scan)) {
            of_user += totals->totals.size();
            all += totals->totals.size();
            sample.processes[{process.identity.pid, process.identity.start_time}] =
                std::make_shared<const census::NameTotals>(std::move(*totals));
        }
    }
    const uint64_t took = segment::monotonic_now() - begin;
    next_ns_ = time_ns + std::clamp(took * kShareOfProcessor, kStepNs, kLongestStepNs);
    const std::lock_guard lock(mutex_);
    samples_.push_back(std::move(sample));
    while (samples_.front().time_ns > time_ns ||
           (samples_.size() > 1 && samples_.front().time_ns + kSpanNs < time_ns)) {
        samples_.pop_front();
    }
}

std::optional<NameSamples::NameBaseline> NameSamples::before(const census::Identity& process,
                                                             uint64_t time_ns) const {
    const std::lock_guard lock(mutex_);
    std::optional<NameBaseline> result;
    for (const NameSample& sample : samples_) {
        const auto found = sample.processes.find({process.pid, process.start_time});
        if (found != sample.processes.end() && (!result || sample.time_ns <= time_ns)) {
            result = NameBaseline{sample.time_ns, found->second};
        }
    }
    return result;
}

}  // namespace ttmem::history
