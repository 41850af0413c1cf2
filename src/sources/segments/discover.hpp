// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds every segment that this user may read, with no help from anyone: a tracked process holds its segment open as a
// memfd of a known name, and /proc shows that.

#include <set>
#include <vector>

#include "census/census.hpp"
#include "sources/proc.hpp"
#include "sources/segments/attach.hpp"

namespace ttmem::sources::segments {

struct Found {
    std::vector<Attached> attached;  // by pid
    std::vector<census::Skipped> skipped;
};

// All but those that are known already. Forked children that hold their parent's segment are passed over in silence, and so
// are segments not finished yet, processes that end meanwhile and those that this user may not look at.
Found discover(const Proc& proc, const std::set<FileId>& known = {});

// For who looks once.
census::Census census_of(Found found);

}  // namespace ttmem::sources::segments
