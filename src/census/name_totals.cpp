// SPDX-License-Identifier: Apache-2.0
#include "census/name_totals.hpp"

#include <algorithm>
#include <tuple>

#include "census/arithmetic.hpp"
#include "census/key_index.hpp"

namespace ttmem::census {

std::optional<NameTotals> totals_by_name(const segment::Reader& ledger, size_t most, uint64_t slots) {
    KeyIndex index(most);
    NameTotals result;
    std::vector<NameTotal>& totals = result.totals;
    bool has_room = true;
    const auto take = [&](segment::SlotRef, const segment::Allocation& a) {
        const std::optional<Kind> kind = kind_of(a.kind);
        if (!kind || a.used() == 0) {
            return true;
        }
        const size_t number = index.of((uint64_t{a.name} * kKinds + index_of(*kind)) << 8 | a.set);
        if (number == KeyIndex::kNoRoom) {
            has_room = false;
            return false;
        }
        if (number == totals.size()) {
            totals.push_back({a.name, *kind, a.set, 0});
        }
        totals[number].used = saturating_add(totals[number].used, a.used());
        return true;
    };
    ledger.for_each_live(take, slots);
    if (!has_room) {
        return std::nullopt;
    }
    std::sort(totals.begin(), totals.end(), [](const NameTotal& a, const NameTotal& b) {
        return std::tuple(a.name, a.kind, a.set) < std::tuple(b.name, b.kind, b.set);
    });
    totals.shrink_to_fit();
    for (const segment::SetTotals& set : ledger.sets()) {
        result.members.resize(std::max<size_t>(result.members.size(), set.index + 1));
        result.members[set.index] = set.set.members;
    }
    return result;
}

}  // namespace ttmem::census
