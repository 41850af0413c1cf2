// SPDX-License-Identifier: Apache-2.0
#include "sources/stock_region/liveness.hpp"

#include <cstdint>

#include "base/proc_stat.hpp"

namespace ttmem::sources::stock_region {

namespace {

constexpr uint64_t kKernelThread = 0x00200000;  // PF_KTHREAD in the flags of stat

}  // namespace

bool can_hold_memory(std::string_view stat) {
    using base::StatField;
    const char state = base::stat_state(stat.data(), stat.size());
    const uint64_t flags = base::stat_number(stat.data(), stat.size(), StatField::flags);
    const uint64_t threads = base::stat_number(stat.data(), stat.size(), StatField::threads);
    const bool has_ended = state == '\0' || state == 'X' || state == 'x' || (state == 'Z' && threads <= 1);
    return !has_ended && (flags & kKernelThread) == 0;
}

}  // namespace ttmem::sources::stock_region
