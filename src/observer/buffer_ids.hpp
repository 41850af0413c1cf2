// SPDX-License-Identifier: Apache-2.0
#pragma once

// The runtime's numbers of buffers. Their field moves between releases, so its place is learned: a new buffer holds the
// number that the runtime's counter gave out last. Thread-safe.

#include <cstdint>
#include <mutex>
#include <vector>

#include "observer/metal.hpp"

namespace ttmem::observer {

class BufferIds {
public:
    explicit BufferIds(const Metal& metal) : metal_(metal), place_(metal.places.buffer_id) {}

    // Of a buffer that this thread has just made. 0 where it is not known.
    uint64_t of(const metal::Buffer* buffer);

private:
    uint64_t learn_from(const metal::Buffer* buffer);

    const Metal& metal_;
    std::mutex mutex_;
    size_t place_;                    // 0: not known yet
    std::vector<size_t> candidates_;  // places that held the number of every buffer so far
    unsigned confirmations_ = 0;
};

}  // namespace ttmem::observer
