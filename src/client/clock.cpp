// SPDX-License-Identifier: Apache-2.0
#include "client/clock.hpp"

#include <errno.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/time.hpp"

namespace ttmem::client {

using segment::Moment;

namespace {

// A thread may be interrupted between the clocks. The shortest of a few readings was not.
constexpr int kReadings = 4;

// From the newest moment, so that an event is never before a moment that was stored before it.
uint64_t ticks_of(State& state, uint64_t monotonic_ns) {
    Lock lock(state.clock_lock);
    const auto since = static_cast<int64_t>(monotonic_ns - state.newest_moment.monotonic_ns);
    const auto ticks = static_cast<int64_t>(static_cast<double>(since) * state.ticks_per_ns);
    return state.newest_moment.ticks + static_cast<uint64_t>(ticks);
}

}  // namespace

bool may_read_counter() {
#if defined(__x86_64__)
    const int saved = errno;
    int setting = PR_TSC_ENABLE;
    // EINVAL: there is no such setting here. Other errors come from a filter, which leaves the answer open.
    const bool may_read =
        prctl(PR_GET_TSC, &setting, 0, 0, 0) == 0 ? setting == PR_TSC_ENABLE : errno == EINVAL;
    errno = saved;
    return may_read;
#else
    return true;
#endif
}

Moment read_moment() {
    Moment moment;
    uint64_t shortest = UINT64_MAX;
    for (int i = 0; i < kReadings; ++i) {
        const uint64_t before = read_counter();
        const uint64_t monotonic_ns = base::monotonic_ns();
        const uint64_t elapsed = read_counter() - before;
        if (elapsed < shortest) {
            shortest = elapsed;
            moment = {before + elapsed / 2, monotonic_ns};
        }
    }
    return moment;
}

uint64_t system_call_ns() {
    const int saved = errno;
    timespec now{};
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
    errno = saved;
    return static_cast<uint64_t>(now.tv_sec) * base::kNsPerSecond + static_cast<uint64_t>(now.tv_nsec);
}

void choose_clock(const State& state) {
    const bool may_read = may_read_counter();
    if (state.clock_is_tsc) {
        tls.clock = may_read ? ThreadClock::counter : ThreadClock::converted;
    } else {
        tls.clock = may_read ? ThreadClock::kernel : ThreadClock::system_call;
    }
}

uint64_t note_moment(State& state) {
    const Moment first{state.header->clock_ticks, state.header->clock_monotonic_ns};
    const Moment now = read_moment();
    Lock lock(state.clock_lock);
    if (now.monotonic_ns > first.monotonic_ns && now.monotonic_ns > state.newest_moment.monotonic_ns &&
        now.ticks > first.ticks) {
        state.newest_moment = now;
        state.ticks_per_ns = static_cast<double>(now.ticks - first.ticks) /
                             static_cast<double>(now.monotonic_ns - first.monotonic_ns);
    }
    return now.ticks;
}

uint64_t thread_ticks(State& state) {
    switch (tls.clock) {
        case ThreadClock::counter:
            return read_counter();
        case ThreadClock::converted:
            return ticks_of(state, system_call_ns());
        case ThreadClock::system_call:
            return system_call_ns();
        case ThreadClock::kernel:
            break;
    }
    return base::monotonic_ns();
}

}  // namespace ttmem::client
