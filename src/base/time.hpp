// SPDX-License-Identifier: Apache-2.0
#pragma once

// The kernel's clocks in nanoseconds. Uses libc alone: libttmem reads them too.

#include <stdint.h>
#include <time.h>

namespace ttmem::base {

constexpr uint64_t kNsPerSecond = 1'000'000'000;

inline uint64_t clock_ns(clockid_t clock) {
    timespec now{};
    clock_gettime(clock, &now);
    return static_cast<uint64_t>(now.tv_sec) * kNsPerSecond + static_cast<uint64_t>(now.tv_nsec);
}

// Since boot. Never goes back.
inline uint64_t monotonic_ns() { return clock_ns(CLOCK_MONOTONIC); }

// Since the epoch. Jumps if the wall clock is set.
inline uint64_t realtime_ns() { return clock_ns(CLOCK_REALTIME); }

// What this thread has used of a processor. Waiting for one does not count.
inline uint64_t processor_ns() { return clock_ns(CLOCK_THREAD_CPUTIME_ID); }

}  // namespace ttmem::base
