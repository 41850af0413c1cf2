// SPDX-License-Identifier: Apache-2.0
#pragma once

// The list of what is live, from a scan of the ledgers, page by page.

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

// One live allocation. Bytes are those on each of its devices.
struct LiveAllocation {
    uint32_t pid = 0;
    std::vector<uint32_t> devices;  // ids: all members of its set
    std::string set;                // what the process called the set
    Kind kind = Kind::dram;
    std::optional<std::string> kernel_type;
    std::optional<uint64_t> address;  // kernels have none
    uint64_t requested = 0;
    uint64_t used = 0;
    bool planned = false;
    bool view = false;
    bool reserved_known = true;
    std::string name;
    uint64_t owner = 0;  // the runtime's own id of the buffer or program
    uint32_t thread = 0;
    uint64_t age_ns = 0;

    bool operator==(const LiveAllocation&) const = default;
};

// The largest first, the oldest first, addresses and names rising. Allocations that are equal in that come by pid, then by
// slot: every order is total.
enum class Sort : uint8_t { used, requested, age, address, name };

std::string_view name_of(Sort sort);
std::optional<Sort> sort_by_name(std::string_view name);

// What to put together (census/groups.hpp). A scope is the beginning of a name: "decoder.3" of "decoder.3/ttnn::matmul".
enum class GroupBy : uint8_t { name, kind, pid, device, set, scope, thread, owner, age };

std::string_view name_of(GroupBy group);
std::optional<GroupBy> group_by_name(std::string_view name);

struct AllocationQuery {
    std::optional<std::string> device = {};  // its id, or its ASIC id as 0x...
    std::optional<uint32_t> pid = {};
    std::optional<Kind> kind = {};
    std::string name = {};  // a part of the full name, in the case in which it stands there
    std::optional<uint64_t> since =
        {};  // only what came after this moment of the host's monotonic clock, in ns
    Sort sort = Sort::used;
    uint64_t limit = 0;                      // 0: all
    std::optional<std::string> cursor = {};  // `next` of the page before
    std::optional<GroupBy> group = {};       // for groups alone
    uint32_t scope_depth = 1;                // how many parts of a name are its scope
};

struct AllocationPage {
    std::vector<LiveAllocation> allocations;
    uint64_t total = 0;               // how many match
    uint64_t left_out = 0;            // of them, how many come after this page
    std::optional<std::string> next;  // where the next page begins; absent: this is the last
};

// An error where the device or the process asked for is not there, and where the cursor is not one of this list. What is
// live through all pages is on one of them and on no second, whatever comes and goes meanwhile.
base::Expected<AllocationPage> list_allocations(const Census& census, const AllocationQuery& query);

// One that was found, in words.
LiveAllocation describe(const segment::Allocation& a, const SelectedLedger& ledger,
                        const Selection& selection);

}  // namespace ttmem::census
