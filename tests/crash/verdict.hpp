// SPDX-License-Identifier: Apache-2.0
#pragma once

// Compares the segment of a dead process with the log. Every slot and record must be valid, and ledger and log may
// differ in at most one event per thread, which the intent word of that thread names.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/descriptor.hpp"
#include "segment/layout.hpp"
#include "tests/crash/shared_log.hpp"

namespace ttmem::crash {

// An event that was being recorded when the process died.
struct InFlight {
    uint32_t worker = 0;
    segment::SlotRef event;
    bool in_ledger = false;
    bool in_ring = false;
    bool bad_free = false;  // a free of something that is already free, which changes nothing
    std::optional<segment::Allocation> allocation;  // from the log; absent for a bad free
    // Counted in the pool. Known only if no other event was in flight.
    bool counted = false;
};

struct Verdict {
    std::vector<std::string> problems;
    std::vector<InFlight> in_flight;
    uint64_t live = 0;
    uint64_t names_used = 0;
};

Verdict examine(base::Descriptor segment, const SharedLog& log);

}  // namespace ttmem::crash
