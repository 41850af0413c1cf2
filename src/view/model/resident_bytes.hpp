// SPDX-License-Identifier: Apache-2.0
#pragma once

// The host memory of the processes in figures.

#include "census/census.hpp"
#include "census/figures.hpp"

namespace ttmem::view {

// Reads the resident bytes of every process that still runs from /proc. A pid that now belongs to another process has none.
void read_resident_bytes(census::Figures& figures, const census::Census& census);

}  // namespace ttmem::view
