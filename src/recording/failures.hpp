// SPDX-License-Identifier: Apache-2.0
#pragma once

// The failures of recorded processes.

#include <cstdint>
#include <string>
#include <vector>

#include "recording/recording.hpp"
#include "segment/layout.hpp"

namespace ttmem::recording {

struct RecordedFailure {
    uint64_t time_ns = 0;  // a moment at which the state has the failure
    uint32_t process = 0;  // its number
    segment::AllocationKind kind = segment::AllocationKind::dram;
    segment::FailureType type = segment::FailureType::out_of_memory;
    uint64_t requested = 0;
    std::string name;   // the place in the program
    uint64_t card = 0;  // the number of its card in the process; 0: it has none
};

// By time. Reads the blocks that have failures or new names, and those of which that is not known.
std::vector<RecordedFailure> find_failures(const Recording& recording);

}  // namespace ttmem::recording
