// SPDX-License-Identifier: Apache-2.0
#pragma once

// Saturating arithmetic for values that other processes wrote. An overflow must not wrap around to a small number.

#include <algorithm>
#include <cstdint>
#include <limits>

namespace ttmem::census {

constexpr uint64_t saturating_add(uint64_t a, uint64_t b) {
    return a > std::numeric_limits<uint64_t>::max() - b ? std::numeric_limits<uint64_t>::max() : a + b;
}

constexpr uint64_t saturating_multiply(uint64_t a, uint64_t b) {
    return a != 0 && b > std::numeric_limits<uint64_t>::max() / a ? std::numeric_limits<uint64_t>::max()
                                                                  : a * b;
}

// a - b, saturated to the range of int64_t.
constexpr int64_t signed_difference(uint64_t a, uint64_t b) {
    constexpr uint64_t kMost = std::numeric_limits<int64_t>::max();
    return a >= b ? static_cast<int64_t>(std::min(a - b, kMost))
                  : -static_cast<int64_t>(std::min(b - a, kMost));
}

// A counter is a sum over several threads. While an event is recorded, it can be below zero, which in two's
// complement is a huge number. Such a value must not be shown.
constexpr bool is_below_zero(uint64_t counter) { return counter > std::numeric_limits<int64_t>::max(); }

}  // namespace ttmem::census
