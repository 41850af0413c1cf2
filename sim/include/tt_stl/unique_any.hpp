// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

namespace ttsl {

// Owns one value of any movable type. The value lies on the heap; size and alignment only limit the type.
template <auto MAX_STORAGE_SIZE, auto ALIGNMENT>
struct unique_any final {
    template <typename Value>
    requires(!std::is_same_v<Value, unique_any>) unique_any(Value object)
        : value_(new Value(std::move(object)), [](void* value) { delete static_cast<Value*>(value); }) {
        static_assert(sizeof(Value) <= static_cast<size_t>(MAX_STORAGE_SIZE));
        static_assert(static_cast<size_t>(ALIGNMENT) % alignof(Value) == 0);
    }

    template <typename T>
    T& get() {
        return *static_cast<T*>(value_.get());
    }
    template <typename T>
    const T& get() const {
        return *static_cast<const T*>(value_.get());
    }

private:
    std::unique_ptr<void, void (*)(void*)> value_;
};

}  // namespace ttsl
