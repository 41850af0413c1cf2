// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "release.hpp"

namespace tt::tt_metal {

#if HAS_THREAD_LISTS
thread_local ProcessorList GraphTracker::processors;
#endif

#if !HAS_INLINE_TRACKER
GraphTracker& GraphTracker::instance() {
    static GraphTracker tracker;
    return tracker;
}
#endif

bool GraphTracker::is_enabled() const {
#if HAS_CAPTURE_QUESTION
    return std::any_of(processors.begin(), processors.end(),
                       [](const auto& processor) { return processor->is_capture_processor(); });
#else
    return !processors.empty();
#endif
}

void GraphTracker::push_processor(const std::shared_ptr<IGraphProcessor>& processor) {
    processors.push_back(processor);
}
void GraphTracker::pop_processor() { processors.pop_back(); }
const ProcessorList& GraphTracker::get_processors() const { return processors; }

bool GraphTracker::hook_allocate(const Buffer* /*buffer*/) { return hooks_allocations; }

void GraphTracker::track_allocate(const Buffer* buffer) {
    for (const auto& processor : processors) {
        processor->track_allocate(buffer);
    }
}

#if defined(MUTATION_FREE_RENAMED)
void GraphTracker::track_free(Buffer* buffer) {
#else
void GraphTracker::track_deallocate(Buffer* buffer) {
#endif
    for (const auto& processor : processors) {
        processor->track_deallocate(buffer);
    }
}

void GraphTracker::track_allocate_cb(const CoreRangeSet& cores, uint64_t address, uint64_t size,
                                     bool is_global, const IDevice* device) {
    for (const auto& processor : processors) {
        processor->track_allocate_cb(cores, address, size, is_global, device);
    }
}

void GraphTracker::track_deallocate_cb(const IDevice* device) {
    for (const auto& processor : processors) {
        processor->track_deallocate_cb(device);
    }
}

#if HAS_DATAFLOW_EVENTS
void GraphTracker::track_allocate_dataflow_buffer(const CoreRangeSet& cores, uint64_t address, uint64_t size,
                                                  bool borrows, const IDevice* device) {
    for (const auto& processor : processors) {
        processor->track_allocate_dataflow_buffer(cores, address, size, borrows, device);
    }
}

void GraphTracker::track_allocate_scratchpad(const CoreRangeSet& cores, uint64_t address, uint64_t size,
                                             const IDevice* device) {
    for (const auto& processor : processors) {
        processor->track_allocate_scratchpad(cores, address, size, device);
    }
}
#endif

void GraphTracker::track_program(Program* program, const IDevice* device) {
    for (const auto& processor : processors) {
        processor->track_program(program, device);
    }
}

#if HAS_CONTEXTS
namespace {
thread_local std::vector<std::string> contexts;
const std::string no_context;
}  // namespace

void push_allocation_context(std::string_view context) { contexts.emplace_back(context); }
void pop_allocation_context() { contexts.pop_back(); }
const std::string& current_allocation_context() { return contexts.empty() ? no_context : contexts.back(); }
#endif

}  // namespace tt::tt_metal
