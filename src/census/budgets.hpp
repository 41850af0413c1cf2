// SPDX-License-Identifier: Apache-2.0
#pragma once

// What one user's processes may make a reader of the host hold or do. Every local user may be hostile, so each number is a share
// per user. A user beyond a share is refused or shown as inexact; other users notice nothing. docs/SECURITY.md describes each
// number and what happens at it.

#include <cstddef>
#include <cstdint>
#include <map>

#include "segment/limits.hpp"

namespace ttmem::census {

// Of one computation of the host's figures, per user.
struct WorkBudgets {
    // Blocks of counters that are read: threads times device sets of a segment, for each attempt to find it quiet.
    uint64_t counter_blocks = uint64_t{1} << 19;
    // Slots of ledgers that are scanned: for free blocks and cores, or for a list.
    uint64_t slots = uint64_t{2} << 20;
    // The same for a list of one process, which the question names.
    uint64_t slots_of_one_process = segment::kMaxSlots;
    // Devices that neither the driver nor a process of another user reports.
    size_t own_devices = 128;
    // Devices of all processes together: each is an entry of the view.
    size_t device_entries = 4096;
    // Members of all device sets together: each has a figure per kind.
    size_t set_members = 65'536;
};

// What is left of the budgets of each user during one computation.
class WorkShares {
public:
    explicit WorkShares(const WorkBudgets& budgets) : budgets_(budgets) {}

    WorkBudgets& of(uint32_t uid) { return left_.try_emplace(uid, budgets_).first->second; }

private:
    const WorkBudgets budgets_;
    std::map<uint32_t, WorkBudgets> left_;
};

}  // namespace ttmem::census
