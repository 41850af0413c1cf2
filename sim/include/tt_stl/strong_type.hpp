// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <concepts>
#include <cstddef>
#include <functional>
#include <utility>

namespace ttsl {

// A number that does not convert to another kind of number.
template <typename T, typename Tag>
class StrongType {
public:
    using value_type = T;
    using tag_type = Tag;

    constexpr StrongType() noexcept requires std::default_initializable<T> : value_{} {}
    constexpr explicit StrongType(T value) noexcept : value_(std::move(value)) {}

    constexpr const T& operator*() const { return value_; }
    constexpr const T& get() const { return value_; }
    constexpr auto operator<=>(const StrongType&) const noexcept = default;

private:
    T value_;
};

}  // namespace ttsl

template <typename T, typename Tag>
struct std::hash<ttsl::StrongType<T, Tag>> {
    size_t operator()(const ttsl::StrongType<T, Tag>& strong) const noexcept {
        return std::hash<T>{}(*strong);
    }
};
