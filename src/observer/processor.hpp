// SPDX-License-Identifier: Apache-2.0
#pragma once

// A graph processor of the observer. The runtime reports op names only to processors, so ours is put below those of the
// program: it must be pushed first.
//
// The interface of processors grew between releases, and its functions are inline, so no name shows their places. They
// are found by a probe: a processor whose virtual functions return their own numbers is pushed, and functions of the
// runtime that call it are called.

#include <string>

#include "observer/metal.hpp"

namespace ttmem::observer {

class Processor {
public:
    // Empty if op names are available, otherwise why not. Calls the runtime.
    static std::string probe(const Metal& metal);

    // Enables op names on this thread, or on all if the runtime has one list of processors. Does nothing unless the probe
    // succeeded.
    static void watch_thread(const Metal& metal, metal::GraphTracker* tracker);
};

}  // namespace ttmem::observer
