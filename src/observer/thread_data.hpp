// SPDX-License-Identifier: Apache-2.0
#pragma once

// The observer's data of the calling thread.

#include <cstddef>
#include <string>
#include <vector>

#include "observer/programs.hpp"

namespace ttmem::observer {

struct ThreadData {
    bool has_processor = false;
    unsigned scans = 0;  // for another reporter in this process
    // The names of the current ops that libttmem does not know yet, the innermost last, and the number of the outer ones
    // that it knows.
    std::vector<std::string> unreported_scopes;
    size_t reported_scopes = 0;
    Frame frame;                      // of the program whose function runs
    const void* hooked = nullptr;     // the last buffer that a hook took over
    const void* allocated = nullptr;  // the last one that an allocator gave something, and which
    const void* allocator = nullptr;
};

// Valid after the thread's own data were destroyed: other destructors may still free memory.
ThreadData& thread_data();

}  // namespace ttmem::observer
