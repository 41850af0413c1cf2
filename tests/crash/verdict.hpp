// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a dead process left, compared with what it wrote down outside: every slot and record is sound, and ledger and
// log differ in at most one event a thread, which its intent word names.

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
    bool bad_free = false;  // a free of something that was free already: it changes nothing
    std::optional<segment::Allocation> allocation;  // as the log says; nothing for a bad free
    // Counted in the pool: known only where no other event was in flight.
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
