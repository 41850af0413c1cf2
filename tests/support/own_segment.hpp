// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds segments. The segment of this process is read through the mapping that its client writes, so that a sanitizer
// sees both sides. The segment of another process is read through /proc, as a real reader does.

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

// The mapping of this process's segment, or nothing if there is none.
std::optional<Mapping> own_mapping();

// A reader of this process's segment. Fails the test and the process if there is none.
segment::Reader own_reader();

// The number of descriptors of this process that are segments, including inherited ones.
unsigned count_own_descriptors();

// The segment that process `pid` created, opened for reading. Empty if there is none, or none yet.
base::Descriptor open_segment_of(pid_t pid);

// The first segment that the process holds open, finished or not, its own or not.
base::Descriptor open_any_segment_of(pid_t pid);

// Waits for open_segment_of() and opens a reader. Fails the test and the process if the segment does not appear.
segment::Reader reader_of(pid_t pid);

}  // namespace ttmem::test
