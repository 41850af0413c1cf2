// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>

namespace ttsl {

// A reference that may be absent, for parameters: std::optional can't hold one.
template <typename T>
class optional_reference {
public:
    optional_reference() = default;
    optional_reference(std::nullopt_t) {}
    optional_reference(T& value) noexcept : value_(std::addressof(value)) {}

    bool has_value() const { return value_ != nullptr; }
    operator bool() const { return has_value(); }
    T* operator->() const { return value_; }
    T& operator*() const { return *value_; }
    T& value() const { return *value_; }

private:
    T* value_ = nullptr;
};

}  // namespace ttsl
