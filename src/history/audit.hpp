// SPDX-License-Identifier: Apache-2.0
#pragma once

// The counters of a segment must equal the sums of its ledger at every quiet moment. The audit compares them for one
// process at a time. A comparison counts only if no event was recorded meanwhile. A lasting difference is a defect of
// ttmem.

#include <cstdint>
#include <optional>
#include <string>

#include "segment/reader.hpp"

namespace ttmem::history {

struct Difference {
    uint32_t set = 0;
    segment::AllocationKind kind = segment::AllocationKind::dram;
    segment::PoolTotals counters;
    segment::PoolTotals ledger;

    bool operator==(const Difference&) const = default;
};

struct Comparison {
    bool quiet = false;                    // false: the result has no meaning
    std::optional<Difference> difference;  // the first one
};

Comparison compare_counters_with_ledger(const segment::Reader& reader);

// Audits one process. A difference is confirmed if two audits in a row find the same one.
class Audit {
public:
    // Returns a difference that has just been confirmed.
    std::optional<Difference> compare(const segment::Reader& reader);

    uint64_t done() const { return done_; }
    uint64_t busy() const { return busy_; }  // audits during which an event was recorded

private:
    std::optional<Difference> last_;
    bool is_reported_ = false;
    uint64_t done_ = 0;
    uint64_t busy_ = 0;
};

}  // namespace ttmem::history
