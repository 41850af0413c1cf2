// SPDX-License-Identifier: Apache-2.0
#pragma once

// The failures of recorded processes.

#include <cstdint>
#include <vector>

#include "recording/recording.hpp"
#include "segment/layout.hpp"

namespace ttmem::recording {

struct RecordedFailure {
    uint64_t time_ns = 0;  // a moment at which the state has the failure
    uint32_t process = 0;  // its number
    segment::AllocationKind kind = segment::AllocationKind::dram;
};

// By time. Reads the blocks that have failures, and those of which that is not known.
std::vector<RecordedFailure> find_failures(const Recording& recording);

}  // namespace ttmem::recording
