// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finding segments: this process's own, through the very mapping that its client writes (so that a sanitizer sees both
// sides), and another process's, through /proc as a real reader does.

#include <sys/types.h>

#include <cstddef>
#include <optional>

#include "base/descriptor.hpp"
#include "segment/reader.hpp"

namespace ttmem::test {

struct Mapping {
    const void* start = nullptr;
    size_t size = 0;
};

// Where the client of this process has mapped its segment; nothing where it has none.
std::optional<Mapping> own_mapping();

// A reader of this process's own segment. Fails the test and the process where there is none.
segment::Reader own_reader();

// How many descriptors of this process are segments, inherited ones included.
unsigned count_own_descriptors();

// The segment that process `pid` made for itself, opened for reading; none yet, or none at all, is an empty one.
base::Descriptor open_segment_of(pid_t pid);

// The first segment that it holds, finished or not, its own or not.
base::Descriptor open_any_segment_of(pid_t pid);

// open_segment_of(), waited for, as a reader; fails the test and the process where it does not come.
segment::Reader reader_of(pid_t pid);

}  // namespace ttmem::test
