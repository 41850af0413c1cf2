// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstddef>
#include <functional>
#include <string>

namespace tt {

struct xy_pair {
    constexpr xy_pair() = default;
    constexpr xy_pair(size_t x_, size_t y_) : x(x_), y(y_) {}

    size_t x = 0;
    size_t y = 0;

    std::string str() const;

    friend constexpr bool operator==(const xy_pair&, const xy_pair&) = default;
    friend constexpr auto operator<=>(const xy_pair&, const xy_pair&) = default;
};

}  // namespace tt

using tt_xy_pair = tt::xy_pair;

template <>
struct std::hash<tt::xy_pair> {
    size_t operator()(const tt::xy_pair& pair) const noexcept {
        return pair.x * 0x9E3779B97F4A7C15u + pair.y;
    }
};
