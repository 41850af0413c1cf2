// SPDX-License-Identifier: Apache-2.0
#pragma once

// The names of the ops that run on a thread. A name reaches libttmem only when something is recorded inside it, which most
// ops never do.

#include <string_view>

namespace ttmem::observer {

void enter_scope(std::string_view name);
void leave_scope();

// Called before anything is recorded on this thread.
void report_scopes();

// Whether an op runs on this thread.
bool has_scope();

}  // namespace ttmem::observer
