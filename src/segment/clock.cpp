// SPDX-License-Identifier: Apache-2.0
#include "segment/clock.hpp"

#include <time.h>

#include <algorithm>

#if defined(__x86_64__)
#include <x86intrin.h>

#include "base/time.hpp"
#endif

namespace ttmem::segment {

Moment Clock::now(ClockKind kind) {
    Moment moment;
    moment.monotonic_ns = base::monotonic_ns();
    moment.ticks = moment.monotonic_ns;
#if defined(__x86_64__)
    if (kind == ClockKind::tsc) {
        moment.ticks = __rdtsc();
    }
#else
    static_cast<void>(kind);
#endif
    return moment;
}

Clock::Clock(ClockKind kind, Moment then, Moment now) : kind_(kind), now_(now) {
    if (then.ticks < now.ticks && then.monotonic_ns <= now.monotonic_ns) {
        ns_per_tick_ = static_cast<long double>(now.monotonic_ns - then.monotonic_ns) /
                       static_cast<long double>(now.ticks - then.ticks);
    }
}

uint64_t Clock::monotonic_ns(uint64_t ticks) const {
    if (kind_ == ClockKind::monotonic_ns) {
        return std::min(ticks, now_.monotonic_ns);
    }
    if (ticks >= now_.ticks) {
        return now_.monotonic_ns;
    }
    // Backwards from now, so that young events are the precise ones.
    const auto age = static_cast<long double>(now_.ticks - ticks) * ns_per_tick_;
    return age >= static_cast<long double>(now_.monotonic_ns)
               ? 0
               : now_.monotonic_ns - static_cast<uint64_t>(age);
}

}  // namespace ttmem::segment
