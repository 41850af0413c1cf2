// SPDX-License-Identifier: Apache-2.0
#pragma once

// Whether the runtime calls its own functions through the dynamic linker, so that calls can be interposed. Optimisation at link
// time may inline a function although it is exported, and the linker may bind calls directly.

#include "observer/interposed.hpp"

namespace ttmem::observer {

// The name of a function that must be seen and for which the runtime's library has no relocation. Null if all have one.
const char* find_bound_function(const Functions& originals);

// Whether the library that has the function calls it through the dynamic linker, so that the call can be interposed.
bool is_called_through_linker(const void* function);

}  // namespace ttmem::observer
