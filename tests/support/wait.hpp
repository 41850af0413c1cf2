// SPDX-License-Identifier: Apache-2.0
#pragma once

// Waiting. The limit is only there so that a broken test ends; no result depends on it.

#include <sched.h>

#include <atomic>
#include <chrono>
#include <cstdint>

namespace ttmem::test {

// Lets a little time pass, so that what comes next meets the other side somewhere else. Nothing waits for anything.
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
