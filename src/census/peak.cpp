// SPDX-License-Identifier: Apache-2.0
#include "census/peak.hpp"

#include <algorithm>

#include "census/arithmetic.hpp"

namespace ttmem::census {

namespace {

bool ended_before(const PoolPeak& a, const PoolPeak& b) {
    return a.closed_ticks != 0 && a.closed_ticks <= b.opened_ticks;
}

bool overlap(const PoolPeak& a, const PoolPeak& b) {
    return a.process != b.process || (!ended_before(a, b) && !ended_before(b, a));
}

}  // namespace

Peak combine(const std::vector<PoolPeak>& pools) {
    Peak result;
    uint64_t together = 0;
    for (size_t i = 0; i < pools.size(); ++i) {
        result.bytes = std::max({result.bytes, pools[i].peak, pools[i].used});
        together = saturating_add(together, pools[i].used);
        for (size_t j = 0; j < i && result.exact; ++j) {
            result.exact = !overlap(pools[i], pools[j]);
        }
    }
    result.bytes = std::max(result.bytes, together);
    return result;
}

}  // namespace ttmem::census
