// SPDX-License-Identifier: Apache-2.0
#include "sim/metal/circular_buffer_records.hpp"

#include <ttmem/ttmem.h>

namespace tt::tt_metal::reporting {
namespace {

void free_all(const std::vector<uint64_t>& handles) {
    for (const uint64_t handle : handles) {
        ttmem_free(handle);
    }
}

}  // namespace

CircularBufferRecords& CircularBufferRecords::instance() {
    // Never destroyed: programs with static storage may end later.
    static auto* const records = new CircularBufferRecords;
    return *records;
}

void CircularBufferRecords::add(uint32_t set, uint64_t program, uint64_t layout,
                                const std::function<uint64_t()>& record) {
    const std::lock_guard lock(mutex_);
    Layout& known = layouts_[{set, program}];
    if (known.number != layout) {
        free_all(known.handles);
        known = {layout, {}};
    }
    known.handles.push_back(record());
}

void CircularBufferRecords::free(uint32_t set, uint64_t program) {
    const std::lock_guard lock(mutex_);
    if (const auto found = layouts_.find({set, program}); found != layouts_.end()) {
        free_all(found->second.handles);
        layouts_.erase(found);
    }
}

void CircularBufferRecords::forget_set(uint32_t set) {
    const std::lock_guard lock(mutex_);
    layouts_.erase(layouts_.lower_bound({set, 0}), layouts_.upper_bound({set, UINT64_MAX}));
}

}  // namespace tt::tt_metal::reporting
