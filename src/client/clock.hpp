// SPDX-License-Identifier: Apache-2.0
#pragma once

// The clocks of a tracked process. A process may forbid one of its threads to read the time-stamp counter (PR_SET_TSC). The
// instruction is then a SIGSEGV, also inside clock_gettime() of the vDSO, so such a thread asks the kernel by a system call.

#include <stdint.h>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "client/state.hpp"
#include "segment/clock.hpp"

namespace ttmem::client {

// Whether the running thread may read the counter now. A later change is not seen.
bool may_read_counter();

// The counter, for a thread whose clock it is. A thread with an open gate is one.
inline uint64_t read_counter() {
#if defined(__x86_64__)
    return __rdtsc();
#else
    __builtin_unreachable();  // no thread has this clock
#endif
}

// Both clocks, read together; only for a thread that may read the counter.
segment::Moment read_moment();

// CLOCK_MONOTONIC without the counter.
uint64_t system_call_ns();

// Sets the clock of the running thread for this State's segment.
void choose_clock(const State& state);

// Stores a moment of both clocks, from which the times of threads without the counter are converted, and returns its ticks.
// Only for a thread that reads the counter.
uint64_t note_moment(State& state);

// The time in ticks, by the clock of the running thread. Slower than now_ticks(). Cold, so that it takes no register from
// the callers that read the counter.
__attribute__((cold)) uint64_t thread_ticks(State& state);

// The same, and stores the moment if this thread can read both clocks.
inline uint64_t note_ticks(State& state) {
    return tls.clock == ThreadClock::counter ? note_moment(state) : thread_ticks(state);
}

}  // namespace ttmem::client
