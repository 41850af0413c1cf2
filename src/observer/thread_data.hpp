// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the observer remembers of the calling thread.

#include <cstddef>
#include <string>
#include <vector>

#include "observer/programs.hpp"

namespace ttmem::observer {

struct ThreadData {
    bool has_processor = false;
    unsigned looks = 0;  // for another reporter in this process
    std::vector<std::string>
        untold;            // names of the ops around, the innermost last, that libttmem has not heard of
    std::size_t told = 0;  // how many of those around them it has
    Frame frame;           // of the program whose function runs
    const void* hooked = nullptr;     // the last buffer that a hook took over
    const void* allocated = nullptr;  // the last one that an allocator gave something, and which
    const void* allocator = nullptr;
};

// Also after the thread's own data were destroyed: destructors of others may still free memory.
ThreadData& thread_data();

}  // namespace ttmem::observer
