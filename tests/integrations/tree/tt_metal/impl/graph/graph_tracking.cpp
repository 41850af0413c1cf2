// SPDX-License-Identifier: Apache-2.0
#include <tt-metalium/graph_tracking.hpp>

namespace tt::tt_metal {

GraphTracker& GraphTracker::instance() {
    static GraphTracker tracker;
    return tracker;
}

void GraphTracker::track_allocate(const Buffer* /* the buffer */ one) { (void)one; /* GraphTracker::track_allocate(x) { */ }

void GraphTracker::track_deallocate(Buffer* buffer) {
    const char* text = "void GraphTracker::track_deallocate(Buffer* buffer) {";
    const char brace = '{';
    const char* raw = R"x(")}{ GraphTracker::track_allocate)x";
    const int digits = 1'000'000;
    (void)buffer, (void)text, (void)brace, (void)raw, (void)digits;
}

void GraphTracker::track_allocate_cb(
    const CoreRangeSet& core_range_set,
    uint64_t addr,
    uint64_t size,
    bool is_globally_allocated,
    const IDevice* device)
{
    (void)core_range_set, (void)addr, (void)size, (void)is_globally_allocated, (void)device;
}

}  // namespace tt::tt_metal
