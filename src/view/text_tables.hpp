// SPDX-License-Identifier: Apache-2.0
#pragma once

// Tables that stand on several screens.

#include <string>
#include <vector>

#include "view/table.hpp"
#include "view/view.hpp"

namespace ttmem::view {

// With what its marks mean, below.
std::string allocation_table(const std::vector<census::LiveAllocation>& allocations, const Style& style);

std::string group_table(const std::vector<census::Group>& groups, census::GroupBy by, const Style& style);

// Numbered, with a line about each below.
std::string failure_table(const std::vector<census::FailureFigures>& failures, const Style& style);

// "120 allocations that found no room, 1 clash of circular buffers".
std::string count_text(const census::FailureCounts& counts);

}  // namespace ttmem::view
