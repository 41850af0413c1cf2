// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "census/census.hpp"

namespace ttmem::access {

// Devices get the numbers that a daemon of this host gave them. A table that can't be used makes the census inexact.
void restore_numbers(census::Census& census);

}  // namespace ttmem::access
