// SPDX-License-Identifier: Apache-2.0
#pragma once

// Live allocations grouped by name, kind, process and other keys. One pass over the ledgers.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "census/allocations.hpp"

namespace ttmem::census {

// The allocations of one kind in a group that add bytes.
struct GroupMemory {
    uint64_t used = 0;
    uint64_t requested = 0;
    uint64_t count = 0;

    bool operator==(const GroupMemory&) const = default;
};

using MemoryByKind = std::array<GroupMemory, kKinds>;

// Whether `a` comes before `b` in the order of used bytes: it has more used bytes, then more requested bytes, of the first kind in
// which they differ. In the order of requested bytes these come first.
bool holds_more(const MemoryByKind& a, const MemoryByKind& b, Sort sort = Sort::used);

void add_memory(MemoryByKind& sums, const MemoryByKind& part);

// Kinds are never added up: they are different memories. Sums of bytes are over all devices of each allocation. In groups by
// device, and where the query has a device, they are those on that device.
struct Group {
    std::string key;                 // the name or number that the members share
    std::optional<uint32_t> pid;     // in groups by process, set, thread or owner
    std::optional<Kind> kind;        // in groups by kind
    std::optional<uint32_t> device;  // in groups by device
    MemoryByKind memory = {};
    uint64_t count = 0;    // allocations that add bytes, of all kinds
    uint64_t planned = 0;  // hooked allocations, which add no bytes
    uint64_t views = 0;    // views of other allocations, which add no bytes
    uint64_t largest = 0;  // used bytes of the largest allocation, on one device
    uint64_t oldest_age_ns = 0;

    bool operator==(const Group&) const = default;
};

struct GroupQuery {
    // The same as in AllocationQuery.
    std::optional<std::string> device = {};
    std::optional<uint32_t> pid = {};
    KindSet kind = {};
    std::string name = {};
    std::optional<uint64_t> since = {};
    // As in lists: `age` is that of the oldest allocation, `name` the key. Groups have no address.
    Sort sort = Sort::used;
    bool reverse = false;
    uint64_t limit = 0;  // 0: all
    GroupBy group = GroupBy::name;
    uint32_t scope_depth = 1;  // the number of name parts that form the scope

    bool operator==(const GroupQuery&) const = default;
};

// The maximum number of distinct keys per pass. Allocations with further keys count as `ungrouped`.
constexpr size_t kMostGroups = 262'144;
constexpr size_t kMostGroupBytes = size_t{32} << 20;  // about, of keys that are texts

struct GroupPage {
    // In the order of the query. By used or requested bytes: by those of DRAM, then of L1, and so on in the order of the kinds.
    std::vector<Group> groups;
    uint64_t total = 0;        // number of groups
    uint64_t allocations = 0;  // matching allocations in all groups
    // Matching allocations in no group: those with a key beyond kMostGroups, and, in groups by device, those on
    // devices that are not shown. At most `allocations`.
    uint64_t ungrouped = 0;
};

// Returns an error if the device or the process does not exist. With a device in the query, groups by device contain
// only that device. System memory belongs to no device.
base::Expected<GroupPage> list_groups(const Census& census, const GroupQuery& query);

}  // namespace ttmem::census
