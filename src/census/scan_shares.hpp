// SPDX-License-Identifier: Apache-2.0
#pragma once

// What lists scan of the ledgers of each user. A list covers the processes of all users that the asker may see, so one user's
// ledgers must not decide how long it takes.

#include <cstdint>
#include <optional>
#include <vector>

#include "census/census.hpp"

namespace ttmem::census {

// Sets Process::slots_to_scan of all processes that are not hidden, or of those with `pid` if the question names one. The oldest
// processes of a user come first, so that later ones take nothing away from them. A ledger that does not fit is not scanned at
// all.
void share_scans(Census& census, std::optional<uint32_t> pid);

// The processes whose allocations no list contains.
std::vector<Inexactness> beyond_shares(const Census& census);

}  // namespace ttmem::census
