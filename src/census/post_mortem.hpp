// SPDX-License-Identifier: Apache-2.0
#pragma once

// The memory that a process held when it died. Its last ledger is authoritative. At most one event per thread is in
// doubt, and is reported.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/descriptor.hpp"
#include "census/allocations.hpp"
#include "census/census.hpp"
#include "census/failures.hpp"
#include "census/figures.hpp"
#include "census/groups.hpp"

namespace ttmem::census {

enum class Ending : uint8_t {
    not_known,  // it died
    exec,       // it executes another program: the process lives, and what it had allocated is gone
    exit,
    signal,
};
constexpr auto enum_names(Ending /*of*/) {
    return std::to_array<std::string_view>({"not_known", "exec", "exit", "signal"});
}

// A process whose end was observed, with its last ledger.
struct DeadProcess {
    Process process;       // ProcessState::dead
    uint64_t died_ns = 0;  // since the epoch
    Ending ending = Ending::not_known;
    // A pidfd, if the kernel is to be asked how it ended: that is known only after its parent has waited for it.
    std::shared_ptr<const base::Descriptor> handle = {};
};

enum class ActionInFlight : uint8_t { allocate, free };
constexpr auto enum_names(ActionInFlight /*of*/) {
    return std::to_array<std::string_view>({"allocate", "free"});
}

// An event that a thread was recording when it died. The allocator may have performed the action although the ledger
// lacks it.
struct EventInFlight {
    uint32_t thread = 0;
    ActionInFlight action = ActionInFlight::allocate;
    // The ledger contains the event. Then the figures are right if the allocator performed it too.
    bool is_in_ledger = false;
    uint32_t slot = 0;
    uint64_t generation = 0;

    bool operator==(const EventInFlight&) const = default;
};

// One line of a list.
struct PostMortemSummary {
    ProcessFigures process;  // its holdings per device and kind
    uint64_t died_ns = 0;
    Ending ending = Ending::not_known;
    std::optional<int> exit_code = {};  // of Ending::exit
    std::optional<int> signal = {};     // of Ending::signal
    uint64_t allocations = 0;           // live at its death, including those that add no bytes
    uint64_t failures = 0;              // failures since its start
    uint64_t in_flight = 0;             // threads with an event in doubt
    bool exact = true;

    bool operator==(const PostMortemSummary&) const = default;
};

// Ages are relative to its death.
struct PostMortem {
    PostMortemSummary summary;
    std::vector<Inexactness> inexact;  // reasons for which it is not exact
    std::vector<Group> by_kind;
    std::vector<Group> by_name;  // the largest first
    uint64_t names = 0;          // number of distinct names; by_name may have fewer
    std::vector<LiveAllocation> largest;
    std::vector<FailureFigures> failures;  // the newest first
    FailureCounts failure_counts;
    std::vector<EventInFlight> in_flight;

    bool operator==(const PostMortem&) const = default;
};

// Sets how it ended, as far as the kernel says so now.
void set_ending(PostMortemSummary& summary, const DeadProcess& dead);

// The maximum length of each list; 0: all.
struct PostMortemLimits {
    uint64_t names = 20;
    uint64_t allocations = 20;
    uint64_t failures = 20;
};

// The same object as in Census, so that a device keeps its id after a death.
using SharedDeviceIds = std::shared_ptr<DeviceIds>;

// Adds the reasons for which it is not exact.
PostMortemSummary summarise(const DeadProcess& dead, const SharedDeviceIds& ids,
                            std::vector<Inexactness>* inexact = nullptr);
PostMortem examine(const DeadProcess& dead, const SharedDeviceIds& ids, const PostMortemLimits& limits = {});

}  // namespace ttmem::census
