// SPDX-License-Identifier: Apache-2.0
#pragma once

// The list of what is live, from a scan of the ledgers.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "census/census.hpp"
#include "census/kind.hpp"

namespace ttmem::census {

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

struct AllocationQuery {
    std::optional<std::string> device = {};  // its id, or its ASIC id as 0x...
    std::optional<uint32_t> pid = {};
    std::optional<Kind> kind = {};
    uint64_t limit = 0;  // 0: all
};

struct AllocationPage {
    std::vector<LiveAllocation> allocations;  // the largest first
    uint64_t total = 0;                       // how many match
};

// An error where the device or the process asked for is not there.
base::Expected<AllocationPage> list_allocations(const Census& census, const AllocationQuery& query);

}  // namespace ttmem::census
