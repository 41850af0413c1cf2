// SPDX-License-Identifier: Apache-2.0
#pragma once

// Making the segment: the memfd, its map, its seals and its header, and the memory behind it.

#include <cstdint>

#include "client/state.hpp"

namespace ttmem::client {

struct SegmentFile {
    segment::Sizes sizes;
    uint64_t salt = 0;
    const char* error_text = nullptr;  // null: it is there
    int error = 0;
};

// Makes the segment of this process and sets State's shortcuts into it. Undoes everything on an error.
SegmentFile create_segment_file(State& state);

// Whether our descriptor is still ours: the program may have closed it and got the number again for a file of its own.
bool owns_descriptor(const State& state);

// Gives back map and descriptor.
void remove_segment_file(State& state);

// Backs ring and tallies of a writer line with memory and sets its shortcuts; false if there is no memory.
bool prepare_line(State& state, uint32_t line);

// Takes the memory of [offset, offset + length) of the segment now; false if there is none.
bool populate(const State& state, uint64_t offset, uint64_t length);

}  // namespace ttmem::client
