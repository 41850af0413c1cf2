// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <concepts>
#include <cstdint>
#include <string>

#include "tests/model/world.hpp"

namespace ttmem::model {

/// Replaces std::atomic<T> in a protocol under the model. Must be created inside a program given to explore(). The
/// memory order has no default, because the code base names it at each operation.
template <class T>
requires std::same_as<T, std::uint32_t> || std::same_as<T, std::uint64_t>
class Atomic {
public:
    using value_type = T;
    static constexpr bool is_always_lock_free = true;

    Atomic() noexcept : Atomic(T{0}) {}
    explicit Atomic(T initial) noexcept : location_(World::current()->add_location(initial)) {}
    Atomic(const Atomic&) = delete;
    Atomic& operator=(const Atomic&) = delete;

    T load(std::memory_order order) const noexcept { return read(operation(Action::load, 0, order)); }
    void store(T value, std::memory_order order) noexcept { read(operation(Action::store, value, order)); }
    T exchange(T value, std::memory_order order) noexcept {
        return read(operation(Action::exchange, value, order));
    }
    T fetch_add(T value, std::memory_order order) noexcept {
        return read(operation(Action::add, value, order));
    }
    T fetch_sub(T value, std::memory_order order) noexcept {
        return read(operation(Action::subtract, value, order));
    }
    T fetch_and(T value, std::memory_order order) noexcept {
        return read(operation(Action::bit_and, value, order));
    }
    T fetch_or(T value, std::memory_order order) noexcept {
        return read(operation(Action::bit_or, value, order));
    }
    T fetch_xor(T value, std::memory_order order) noexcept {
        return read(operation(Action::bit_xor, value, order));
    }

    bool compare_exchange_strong(T& expected, T desired, std::memory_order success,
                                 std::memory_order failure) noexcept {
        return compare_exchange(Action::compare_exchange, expected, desired, success, failure);
    }
    bool compare_exchange_strong(T& expected, T desired, std::memory_order order) noexcept {
        return compare_exchange_strong(expected, desired, order, on_failure(order));
    }
    bool compare_exchange_weak(T& expected, T desired, std::memory_order success,
                               std::memory_order failure) noexcept {
        return compare_exchange(Action::compare_exchange_weak, expected, desired, success, failure);
    }
    bool compare_exchange_weak(T& expected, T desired, std::memory_order order) noexcept {
        return compare_exchange_weak(expected, desired, order, on_failure(order));
    }

    LocationId location() const { return location_; }

private:
    static std::memory_order on_failure(std::memory_order order) {
        if (order == std::memory_order_acq_rel) {
            return std::memory_order_acquire;
        }
        return order == std::memory_order_release ? std::memory_order_relaxed : order;
    }

    Operation operation(Action action, T operand, std::memory_order order) const {
        Operation op;
        op.action = action;
        op.location = location_;
        op.order = order;
        op.operand = operand;
        op.mask = static_cast<T>(~T{0});
        return op;
    }

    static T read(const Operation& op) { return static_cast<T>(World::current()->perform(op).value_read); }

    bool compare_exchange(Action action, T& expected, T desired, std::memory_order success,
                          std::memory_order failure) {
        Operation op = operation(action, desired, success);
        op.expected = expected;
        op.failure_order = failure;
        const Outcome outcome = World::current()->perform(op);
        expected = static_cast<T>(outcome.value_read);
        return outcome.effect == Effect::modify;
    }

    LocationId location_;
};

/// Sets the name of an atomic in traces.
template <class T>
void name(const Atomic<T>& atomic, const std::string& text) {
    World::current()->name_location(atomic.location(), text);
}

}  // namespace ttmem::model
