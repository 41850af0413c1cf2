// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds the tt-metal of this process and the observer that fits it. libc only.

#include <stddef.h>

#include "observer/interposed.hpp"

namespace ttmem::observer {

// The library that has the functions of interposed.hpp, however it was loaded: Python loads with RTLD_LOCAL, which
// RTLD_NEXT does not search.
Runtime find_runtime();

// Replaces the originals by the functions of the observer that fits. Does nothing if tracking is off. If no observer
// fits, prints one line and does nothing.
void observe(const Runtime& runtime, Observation& observation);

struct ChosenObserver {
    Observation observation;
    bool fits;
    char text[1400];          // the observer, with its file of places if it uses one; or why none fits
    char missing_facts[400];  // what this runtime does not give, or nothing
};
void choose_observer(const Runtime& runtime, ChosenObserver& choice);

}  // namespace ttmem::observer
