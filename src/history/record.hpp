// SPDX-License-Identifier: Apache-2.0
#pragma once

// What happened on this host, one thing at a time, as small as it can be kept: an event of a ring with where it came
// from, or something that no ring tells (a process came or went, a reader missed events).

#include <cstdint>

#include "segment/layout.hpp"

namespace ttmem::history {

enum class What : uint8_t {
    allocation,  // `event` says which, and whether it adds bytes
    free,
    set_opened,
    set_closed,
    failure,
    gap,              // `count` events of the process were overwritten before anyone read them
    process_started,  // since when its events are followed
    process_died,
};

struct Record {
    uint64_t sequence = 0;      // of the whole host, without holes, from 1
    uint64_t monotonic_ns = 0;  // when it happened; of a gap, when it was noticed
    uint32_t process = 0;       // the number that the follower was given for it
    uint32_t set = 0;           // which set of the process: see SetVersions
    What what = What::allocation;
    uint64_t count = 0;
    segment::Event event;
};

}  // namespace ttmem::history
