// SPDX-License-Identifier: Apache-2.0
#include "census/peak.hpp"

#include <algorithm>
#include <optional>

#include "census/arithmetic.hpp"

namespace ttmem::census {

namespace {

// Bytes that may have been held at any time between two moments.
struct Period {
    uint64_t begin = 0;
    std::optional<uint64_t> end = {};
    uint64_t bytes = 0;
};

// The most bytes and the most periods at one moment.
struct Together {
    uint64_t bytes = 0;
    size_t periods = 0;
};

Together most_together(const std::vector<Period>& periods) {
    struct Change {
        uint64_t moment;
        bool is_begin;  // at one moment, ends come first
        uint64_t bytes;
    };
    __extension__ using Sum = unsigned __int128;  // many saturated values don't overflow it
    if (std::none_of(periods.begin(), periods.end(),
                     [](const Period& period) { return period.end.has_value(); })) {
        Together all{0, periods.size()};
        for (const Period& period : periods) {
            all.bytes = saturating_add(all.bytes, period.bytes);
        }
        return all;
    }
    std::vector<Change> changes;
    changes.reserve(2 * periods.size());
    for (const Period& period : periods) {
        changes.push_back({period.begin, true, period.bytes});
        if (period.end) {
            // An end that is not after its begin would be taken first.
            const uint64_t end = std::max(*period.end, saturating_add(period.begin, 1));
            changes.push_back({end, false, period.bytes});
        }
    }
    std::sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) {
        return a.moment != b.moment ? a.moment < b.moment : a.is_begin < b.is_begin;
    });
    Sum now = 0;
    Sum most = 0;
    size_t count = 0;
    Together result;
    for (const Change& change : changes) {
        now = change.is_begin ? now + change.bytes : now - change.bytes;
        count = change.is_begin ? count + 1 : count - 1;
        most = std::max(most, now);
        result.periods = std::max(result.periods, count);
    }
    result.bytes = static_cast<uint64_t>(std::min<Sum>(most, UINT64_MAX));
    return result;
}

}  // namespace

Peak combine(const std::vector<PoolPeak>& pools) {
    Peak result;
    uint64_t now = 0;
    std::vector<Period> processes;
    std::vector<Period> periods;  // of one process
    for (size_t i = 0; i < pools.size(); ++i) {
        const PoolPeak& pool = pools[i];
        const uint64_t peak = std::max(pool.peak, pool.used);
        result.bytes = std::max(result.bytes, peak);
        now = saturating_add(now, pool.lifetime.ended ? 0 : pool.used);
        const auto closed = pool.closed_ticks != 0 ? std::optional(pool.closed_ticks) : std::nullopt;
        periods.push_back({pool.opened_ticks, closed, peak});
        const bool is_last = i + 1 == pools.size() || pools[i + 1].process != pool.process;
        if (is_last) {
            const Together together = most_together(periods);
            result.exact = result.exact && together.periods <= 1;
            processes.push_back({pool.lifetime.arrived, pool.lifetime.ended, together.bytes});
            periods.clear();
        }
    }
    const Together together = most_together(processes);
    result.exact = result.exact && together.periods <= 1;
    result.bytes = std::max(result.bytes, now);
    result.at_most = result.exact ? result.bytes : std::max(result.bytes, together.bytes);
    return result;
}

}  // namespace ttmem::census
