// SPDX-License-Identifier: Apache-2.0
#pragma once

// Waiting. The limit only ensures that a broken test ends; no result depends on it.

#include <sched.h>

#include <atomic>
#include <chrono>
#include <cstdint>

namespace ttmem::test {

// Delays for a short time, so that the next step overlaps another part of the other thread. No result depends on it.
inline void spin(uint64_t turns) {
    std::atomic<uint64_t> idle{0};
    while (idle.fetch_add(1, std::memory_order_relaxed) < turns) {
    }
}

template <class Condition>
bool wait_until(Condition&& condition, std::chrono::seconds limit = std::chrono::seconds(60)) {
    const auto end = std::chrono::steady_clock::now() + limit;
    while (!condition()) {
        if (std::chrono::steady_clock::now() > end) {
            return false;
        }
        sched_yield();
    }
    return true;
}

}  // namespace ttmem::test
