// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds every segment that this user may read, with no help from anyone: a tracked process holds its segment open as a
// memfd of a known name, and /proc shows that.

#include "census/census.hpp"
#include "sources/proc.hpp"

namespace ttmem::sources::segments {

// Adds the processes found to the census, by pid, and those skipped with the reason why.
//
// A segment counts for the one process whose innermost pid and start time are in its header. Others hold the same file
// too: forked children, readers. They are passed over in silence, and so are segments not finished yet, processes that end
// meanwhile and those that this user may not look at.
void discover(const Proc& proc, census::Census& census);

}  // namespace ttmem::sources::segments
