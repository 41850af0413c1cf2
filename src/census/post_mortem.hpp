// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a process held when it died. Its last ledger is the truth: at most one event a thread is in doubt, and that is
// told.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "census/allocations.hpp"
#include "census/census.hpp"
#include "census/failures.hpp"
#include "census/figures.hpp"
#include "census/groups.hpp"

namespace ttmem::census {

// A process whose death was seen, with its last ledger.
struct Dead {
    Process process;       // State::dead
    uint64_t died_ns = 0;  // since the epoch
};

// An event that a thread was recording when it died. The allocator may have done its part, and the ledger may lack it.
struct InFlight {
    uint32_t thread = 0;
    std::string event;  // "allocate" or "free"
    bool is_in_ledger =
        false;  // the ledger has taken it in: what is held is right if the allocator has done it too
    uint32_t slot = 0;
    uint64_t generation = 0;

    bool operator==(const InFlight&) const = default;
};

// One line of a list.
struct PostMortemSummary {
    ProcessFigures process;  // what it held, by device and kind
    uint64_t died_ns = 0;
    uint64_t allocations = 0;  // live when it died, also those that add no bytes
    uint64_t failures = 0;     // that it ever had
    uint64_t in_flight = 0;    // threads with an event in doubt
    bool exact = true;

    bool operator==(const PostMortemSummary&) const = default;
};

// Ages are those at its death.
struct PostMortem {
    PostMortemSummary summary;
    std::vector<Inexactness> inexact;  // why it is not exact
    std::vector<Group> by_kind;
    std::vector<Group> by_name;  // the largest first
    uint64_t names = 0;          // how many there are; by_name may have fewer
    std::vector<LiveAllocation> largest;
    std::vector<FailureFigures> failures;  // the last first
    FailureCounts failure_counts;
    std::vector<InFlight> in_flight;

    bool operator==(const PostMortem&) const = default;
};

// How many lines its lists have at most; 0: all.
struct PostMortemLimits {
    uint64_t names = 20;
    uint64_t allocations = 20;
    uint64_t failures = 20;
};

using SharedDeviceIds =
    std::shared_ptr<DeviceIds>;  // as in Census: so that a device keeps its number after a death

PostMortemSummary summarise(const Dead& dead, const SharedDeviceIds& ids);
PostMortem examine(const Dead& dead, const SharedDeviceIds& ids, const PostMortemLimits& limits = {});

}  // namespace ttmem::census
