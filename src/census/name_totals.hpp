// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a ledger holds under each name, as numbers that are valid within that ledger. Small, so that it can be kept over time.

#include <cstdint>
#include <optional>
#include <vector>

#include "census/kind.hpp"
#include "segment/reader.hpp"

namespace ttmem::census {

struct NameTotal {
    uint32_t name = 0;  // segment::Reader::name() has its text
    Kind kind = Kind::dram;
    uint8_t set = 0;
    uint64_t used = 0;

    bool operator==(const NameTotal&) const = default;
};

struct NameTotals {
    std::vector<NameTotal> totals;  // by name, kind and set
    // By set: a mask over the device table of the process. The number of a set that was closed is used again.
    std::vector<uint64_t> members;

    uint64_t members_of(const NameTotal& total) const {
        return total.set < members.size() ? members[total.set] : 0;
    }
};

// One pass over the first `slots` of the ledger. Absent if there are more than `most`.
std::optional<NameTotals> totals_by_name(const segment::Reader& ledger, size_t most,
                                         uint64_t slots = UINT64_MAX);

}  // namespace ttmem::census
