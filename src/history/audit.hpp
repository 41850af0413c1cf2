// SPDX-License-Identifier: Apache-2.0
#pragma once

// The counters of a segment must equal the sums of its ledger at every quiet moment. The audit looks whether they do: one
// process at a time, and only where nothing happened while it looked. A difference that stays is a defect of ttmem.

#include <cstdint>
#include <optional>
#include <string>

#include "segment/reader.hpp"

namespace ttmem::history {

struct Difference {
    uint32_t set = 0;
    segment::Kind kind = segment::Kind::dram;
    segment::PoolTotals counters;
    segment::PoolTotals ledger;

    bool operator==(const Difference&) const = default;
};

struct Comparison {
    bool quiet = false;                    // else nothing can be said
    std::optional<Difference> difference;  // the first
};

Comparison compare_counters_with_ledger(const segment::Reader& reader);

// Of one process: a difference counts when the same one was seen at two audits in a row.
class Audit {
public:
    // Returns a difference that has just turned out to last.
    std::optional<Difference> look(const segment::Reader& reader);

    uint64_t done() const { return done_; }
    uint64_t busy() const { return busy_; }  // looks at which something happened meanwhile

private:
    std::optional<Difference> last_;
    bool told_ = false;
    uint64_t done_ = 0;
    uint64_t busy_ = 0;
};

}  // namespace ttmem::history
