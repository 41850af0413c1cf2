// SPDX-License-Identifier: Apache-2.0
//
// A library with a few functions of tt-metal's names, and with nothing behind them.
#include <cstdio>

namespace tt::tt_metal {

class Buffer;

class GraphTracker {
public:
    void track_allocate(const Buffer* buffer);
};

void GraphTracker::track_allocate(const Buffer* /*buffer*/) { std::puts("the original was called"); }

}  // namespace tt::tt_metal

// Through the dynamic linker, as the runtime does it.
extern "C" void other_runtime_allocates() { tt::tt_metal::GraphTracker().track_allocate(nullptr); }
