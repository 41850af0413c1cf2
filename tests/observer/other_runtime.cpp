// SPDX-License-Identifier: Apache-2.0
//
// A library that has a few functions with the names of tt-metal's, without an implementation.
#include <cstdio>

namespace tt::tt_metal {

class Buffer;

class GraphTracker {
public:
    void track_allocate(const Buffer* buffer);
};

void GraphTracker::track_allocate(const Buffer* /*buffer*/) { std::puts("the original was called"); }

}  // namespace tt::tt_metal

// Calls through the dynamic linker, as the runtime does.
extern "C" void other_runtime_allocates() { tt::tt_metal::GraphTracker().track_allocate(nullptr); }
