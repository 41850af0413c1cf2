// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finding the tt-metal of this process, and the observer that fits it. libc alone.

#include <stddef.h>

#include "observer/interposed.hpp"

namespace ttmem::observer {

// The library that has the functions of interposed.hpp, wherever and however it was loaded: Python loads with
// RTLD_LOCAL, and what is loaded so no RTLD_NEXT finds.
Runtime find_runtime();

// Puts the functions of the observer that fits in the place of the originals. Where tracking is not asked for it does
// nothing; where no observer fits it says so in one line, and does nothing.
void observe(const Runtime& runtime, Functions& calls);

// True, and the path of the observer that fits the runtime; or false, and why none does.
bool choose_observer(const Runtime& runtime, Functions& calls, char* text, size_t size);

}  // namespace ttmem::observer
