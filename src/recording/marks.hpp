// SPDX-License-Identifier: Apache-2.0
#pragma once

// The moments that recorded processes have named (ttmem_mark). A process keeps the first and the last of its marks; a recording has
// all that were read before they were overwritten.

#include <cstdint>
#include <string>
#include <vector>

#include "recording/recording.hpp"

namespace ttmem::recording {

struct RecordedMark {
    uint64_t time_ns = 0;  // at most the end of the recording
    uint32_t process = 0;  // its number
    std::string name;
};

// By time. Reads the blocks that have marks, and those of which that is not known. Blocks that are damaged are left out.
std::vector<RecordedMark> find_marks(const Recording& recording);

}  // namespace ttmem::recording
