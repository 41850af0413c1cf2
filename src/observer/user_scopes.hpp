// SPDX-License-Identifier: Apache-2.0
#pragma once

// Scopes that the user's program opens by itself, for example from Python. The runtime, and with it the observer, may come
// later: until the first call of the runtime on a thread, its scopes wait here. libc only.

#include "observer/interposed.hpp"

namespace ttmem::observer {

void push_user_scope(const char* name);
void pop_user_scope();

// Of this thread, null before its first call of the runtime. initial-exec TLS: found without a call. The library is loaded
// when the program starts.
extern __thread const Observation* thread_observation __attribute__((tls_model("initial-exec")));

// Whether the scopes of this thread go to the observer, if there is one.
inline bool are_scopes_reported() { return thread_observation != nullptr; }

// Passes on what waits, and from now on every scope of this thread. `observation` stays valid.
void report_user_scopes(const Observation& observation);

}  // namespace ttmem::observer
