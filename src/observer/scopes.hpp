// SPDX-License-Identifier: Apache-2.0
#pragma once

// Op names. The runtime reports them only to a thread's processors, so each thread gets one of ours, below those of the
// program: it must be pushed first. A name reaches libttmem only when something is recorded inside it, which most ops
// never do.

#include <memory>
#include <string_view>

#include "observer/metal.hpp"

namespace ttmem::observer {

// The processor that all threads share; null if the runtime's interface does not match the headers.
std::shared_ptr<metal::IGraphProcessor> make_processor(const Metal& metal);

void enter_scope(std::string_view name);
void leave_scope();

// Called before anything is recorded on this thread.
void report_scopes();

}  // namespace ttmem::observer
