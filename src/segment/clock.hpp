// SPDX-License-Identifier: Apache-2.0
#pragma once

// Converts the ticks of a segment to the host's monotonic clock. The client stores one moment on both clocks; a reader
// takes a second one now, and the rate follows. So the tracked process calibrates nothing.

#include <cstdint>

#include "segment/layout.hpp"

namespace ttmem::segment {

struct Moment {
    uint64_t ticks = 0;
    uint64_t monotonic_ns = 0;
};

class Clock {
public:
    // `then` comes from a segment, and may be anything; `now` is this host's.
    Clock(ClockKind kind, Moment then, Moment now);

    // Both clocks of this host, read together.
    static Moment now(ClockKind kind);

    // Never after `now`, whatever the ticks are.
    uint64_t monotonic_ns(uint64_t ticks) const;

    uint64_t age_ns(uint64_t ticks) const { return now_.monotonic_ns - monotonic_ns(ticks); }

private:
    ClockKind kind_;
    Moment now_;
    long double ns_per_tick_ = 0;  // 0: no ticks before now have a time
};

inline uint64_t monotonic_now() { return Clock::now(ClockKind::monotonic_ns).monotonic_ns; }

}  // namespace ttmem::segment
