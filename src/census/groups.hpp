// SPDX-License-Identifier: Apache-2.0
#pragma once

// What is live, put together: by name, by kind, by whoever holds it. One pass over the ledgers.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "census/allocations.hpp"

namespace ttmem::census {

// Bytes are those on each device of an allocation, and a mesh allocation counts them once; in a group by device it counts on
// every member, and bytes are those on that device.
struct Group {
    std::string key;                 // the name, the number or the word that its members have in common
    std::optional<uint32_t> pid;     // of a process, and of a set, a thread or an owner in it
    std::optional<Kind> kind;        // in groups by kind
    std::optional<uint32_t> device;  // in groups by device
    uint64_t used = 0;
    uint64_t requested = 0;
    uint64_t count = 0;    // allocations that add bytes
    uint64_t planned = 0;  // hooked ones, which add none
    uint64_t views = 0;    // of memory that others own: add none
    uint64_t largest = 0;  // the used bytes of its largest allocation
    uint64_t oldest_age_ns = 0;

    bool operator==(const Group&) const = default;
};

// Distinct keys that are kept in one pass; what has another is counted in `ungrouped`.
constexpr size_t kMostGroups = 262'144;

struct GroupPage {
    std::vector<Group> groups;  // by used bytes, the most first
    uint64_t total = 0;         // groups there are
    uint64_t allocations = 0;   // that match, in all groups
    uint64_t ungrouped = 0;     // of them, those with a key beyond kMostGroups: they are in no group
};

// By query.group, or by name where that is absent; sort and cursor don't matter. An error where the device or the process
// asked for is not there. Where a device was asked for, groups by device are that one alone. System memory is on no device.
base::Expected<GroupPage> list_groups(const Census& census, const AllocationQuery& query);

}  // namespace ttmem::census
