// SPDX-License-Identifier: Apache-2.0
#pragma once

// Waiting for a condition. The limit is only there so that a broken test ends; no result depends on it.

#include <sched.h>

#include <chrono>

namespace ttmem::test {

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
