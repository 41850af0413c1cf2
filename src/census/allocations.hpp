// SPDX-License-Identifier: Apache-2.0
#pragma once

// The paged list of live allocations, from a scan of the ledgers.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "census/census.hpp"
#include "census/kind.hpp"

namespace ttmem::census {

class Selection;
struct SelectedLedger;

// One live allocation. Byte counts are per device.
struct LiveAllocation {
    uint32_t pid = 0;
    std::vector<uint32_t> devices;  // ids: all members of its set
    std::string set;                // the label that the process gave the set
    Kind kind = Kind::dram;
    std::optional<std::string> kernel_type;
    std::optional<std::string> cb_type;
    std::optional<uint64_t> address;  // kernels have none
    uint64_t requested = 0;
    uint64_t used = 0;
    bool planned = false;
    bool view = false;
    bool reserved_known = true;
    std::string name;
    uint64_t owner = 0;  // the runtime's id of the buffer or program
    uint32_t thread = 0;
    uint64_t age_ns = 0;

    bool operator==(const LiveAllocation&) const = default;
};

// Sizes and ages descend, addresses and names ascend. Ties are ordered by pid, then by slot, so every order is total.
enum class Sort : uint8_t { used, requested, age, address, name };

constexpr auto enum_names(Sort /*of*/) {
    return std::to_array<std::string_view>({"used", "requested", "age", "address", "name"});
}

// The key of a group (census/groups.hpp). A scope is the first part of a name: "decoder.3" of
// "decoder.3/ttnn::matmul".
enum class GroupBy : uint8_t { name, kind, pid, device, set, scope, thread, owner, age };

constexpr auto enum_names(GroupBy /*of*/) {
    return std::to_array<std::string_view>(
        {"name", "kind", "pid", "device", "set", "scope", "thread", "owner", "age"});
}

struct AllocationQuery {
    std::optional<std::string> device = {};  // its id, or its ASIC id as 0x...
    std::optional<uint32_t> pid = {};
    KindSet kind = {};
    std::string name = {};  // a part of the full name, case-sensitive
    // Only allocations made after this time of the host's monotonic clock, in ns.
    std::optional<uint64_t> since = {};
    Sort sort = Sort::used;
    bool reverse = false;                    // the last of the order first
    uint64_t limit = 0;                      // 0: all
    std::optional<std::string> cursor = {};  // `next` of the previous page

    bool operator==(const AllocationQuery&) const = default;
};

struct AllocationPage {
    std::vector<LiveAllocation> allocations;
    uint64_t total = 0;               // matching allocations
    uint64_t left_out = 0;            // matching allocations after this page
    std::optional<std::string> next;  // the start of the next page; absent: this is the last one
};

// Returns an error if the device or the process does not exist, or if the cursor belongs to another list. An
// allocation that is live during all pages appears on exactly one of them, even if others come and go.
base::Expected<AllocationPage> list_allocations(const Census& census, const AllocationQuery& query);

// Resolves the names and devices of an allocation.
LiveAllocation describe(const segment::Allocation& a, const SelectedLedger& ledger,
                        const Selection& selection);

}  // namespace ttmem::census
