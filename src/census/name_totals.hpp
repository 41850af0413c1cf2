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
    uint64_t used = 0;

    bool operator==(const NameTotal&) const = default;
};

// By name and kind; one pass over the first `slots` of the ledger. Absent if there are more than `most`.
std::optional<std::vector<NameTotal>> totals_by_name(const segment::Reader& ledger, size_t most,
                                                     uint64_t slots = UINT64_MAX);

}  // namespace ttmem::census
