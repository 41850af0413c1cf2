// SPDX-License-Identifier: Apache-2.0
#include "census/worst_core.hpp"

#include <algorithm>
#include <bit>

#include "census/arithmetic.hpp"

namespace ttmem::census {

void L1Reach::add_circular_buffer(uint64_t top, std::optional<Core> on) {
    if (top > cb_top) {
        cb_top = top;
        core = on;
    }
}

void L1Reach::add_buffer(uint64_t address) {
    lowest_buffer = std::min(lowest_buffer.value_or(address), address);
}

WorstCore worst_core(const L1Reach& reach, const Bank& l1, uint64_t used) {
    WorstCore worst;
    worst.core = reach.core;
    worst.lowest_buffer = reach.lowest_buffer;
    if (reach.cb_top != 0) {
        worst.cb_top = reach.cb_top;
    }
    if (l1.is_known()) {
        const uint64_t circular = reach.cb_top > l1.base ? reach.cb_top - l1.base : 0;
        worst.used = saturating_add(circular, used / l1.banks);
        worst.capacity = l1.size;
    }
    if (l1.is_known() || (worst.cb_top && worst.lowest_buffer)) {
        const uint64_t ceiling = worst.lowest_buffer.value_or(saturating_add(l1.base, l1.size));
        worst.headroom = signed_difference(ceiling, std::max(reach.cb_top, l1.base));
    }
    return worst;
}

std::optional<Core> first_core(const segment::CoreMask& cores) {
    for (uint32_t y = 0; y < cores.size(); ++y) {
        if (cores[y] != 0) {
            return Core{static_cast<uint32_t>(std::countr_zero(cores[y])), y};
        }
    }
    return std::nullopt;
}

bool has_core(const segment::CoreMask& cores, Core core) {
    return core.y < cores.size() && core.x < 16 && (cores[core.y] >> core.x & 1) != 0;
}

}  // namespace ttmem::census
