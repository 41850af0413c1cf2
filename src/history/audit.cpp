// SPDX-License-Identifier: Apache-2.0
#include "history/audit.hpp"

#include <algorithm>
#include <utility>

namespace ttmem::history {

namespace {

bool has_intent(const segment::Reader& reader) {
    const auto writers = reader.writers();
    return std::any_of(writers.begin(), writers.end(), [](const auto& writer) { return writer.intent != 0; });
}

}  // namespace

Comparison compare_counters_with_ledger(const segment::Reader& reader) {
    const uint64_t events = reader.events_written();
    const segment::Totals counters = reader.totals();
    const segment::Totals ledger = reader.totals_from_ledger();
    Comparison result;
    result.quiet = !counters.settling && !ledger.settling && !has_intent(reader) &&
                   reader.events_written() == events && counters.sets.size() == ledger.sets.size();
    if (!result.quiet) {
        return result;
    }
    for (size_t i = 0; i < counters.sets.size(); ++i) {
        for (uint32_t kind = 0; kind < segment::kKinds; ++kind) {
            segment::PoolTotals counted = counters.sets[i].pools[kind];
            counted.peak = 0;  // the ledger has no peaks
            if (counted != ledger.sets[i].pools[kind]) {
                result.difference = {counters.sets[i].index, static_cast<segment::AllocationKind>(kind),
                                     counted, ledger.sets[i].pools[kind]};
                return result;
            }
        }
    }
    return result;
}

std::optional<Difference> Audit::compare(const segment::Reader& reader) {
    const Comparison comparison = compare_counters_with_ledger(reader);
    if (!comparison.quiet) {
        ++busy_;
        return std::nullopt;
    }
    ++done_;
    const bool lasts = comparison.difference && comparison.difference == last_;
    last_ = comparison.difference;
    if (!lasts) {
        is_reported_ = is_reported_ && comparison.difference;
        return std::nullopt;
    }
    return std::exchange(is_reported_, true) ? std::nullopt : comparison.difference;
}

}  // namespace ttmem::history
