// SPDX-License-Identifier: Apache-2.0
#pragma once

// Scopes that the user's program opens by itself, for example from Python. The runtime, and with it the observer, may come
// later: until the first call of the runtime on a thread, its scopes wait here. libc only.

#include "observer/interposed.hpp"

namespace ttmem::observer {

void push_user_scope(const char* name);
void pop_user_scope();

// Whether the scopes of this thread go to the observer, if there is one.
bool are_scopes_reported();

// Passes on what waits, and from now on every scope of this thread. `observation` stays valid.
void report_user_scopes(const Observation& observation);

}  // namespace ttmem::observer
