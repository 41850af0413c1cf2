// SPDX-License-Identifier: Apache-2.0
#pragma once

// Names of ops. The runtime tells them to the processors of a thread only, so each thread gets one of ours, below all that
// the program has: the first of a thread must be there before anything else is. A name goes to libttmem when something is
// recorded inside it; most ops are never heard of there.

#include <memory>
#include <string_view>

#include "observer/metal.hpp"

namespace ttmem::observer {

// The processor that all threads share; null where the runtime's are not those that this was compiled for.
std::shared_ptr<metal::IGraphProcessor> make_processor(const Metal& metal);

void enter_scope(std::string_view name);
void leave_scope();

// Before anything is recorded on this thread.
void tell_scopes();

}  // namespace ttmem::observer
