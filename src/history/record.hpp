// SPDX-License-Identifier: Apache-2.0
#pragma once

// One compact record of the host's history: an event of a ring and its origin, or an event that no ring contains,
// such as the start or end of a process or a gap.

#include <array>
#include <cstdint>
#include <string_view>

#include "base/named_enum.hpp"
#include "segment/layout.hpp"

namespace ttmem::history {

enum class RecordType : uint8_t {
    allocation,  // `event` holds the details, and whether it adds bytes
    free,
    set_opened,
    set_closed,
    failure,
    gap,              // `count` events of the process were overwritten before they were read
    process_started,  // its events are followed from here on
    process_died,
};
constexpr auto enum_names(RecordType /*of*/) {
    return std::to_array<std::string_view>({"allocation", "free", "set_opened", "set_closed", "failure",
                                            "gap", "process_started", "process_died"});
}
using base::name_of;

struct Record {
    uint64_t sequence = 0;      // consecutive over the whole host, from 1
    uint64_t monotonic_ns = 0;  // time of the event; for a gap, time of its detection
    uint32_t process = 0;       // the number of the process that was given to the follower
    uint32_t set = 0;           // the set version of the process: see SetVersions
    RecordType type = RecordType::allocation;
    uint64_t count = 0;
    segment::Event event;
};

}  // namespace ttmem::history
