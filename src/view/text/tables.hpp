// SPDX-License-Identifier: Apache-2.0
#pragma once

// Tables that appear on several screens.

#include <string>
#include <vector>

#include "view/model/view.hpp"
#include "view/text/spans.hpp"
#include "view/text/table.hpp"

namespace ttmem::view {

// With a legend of its marks below.
Text allocation_table(const std::vector<census::LiveAllocation>& allocations, const Style& style);

Text group_table(const std::vector<census::Group>& groups, census::GroupBy by, const Style& style);

// Numbered rows, and details of each row below the table.
Text failure_table(const std::vector<census::FailureFigures>& failures, const Style& style);

// One row per post-mortem, below the line of titles.
Text post_mortem_table(const PostMortemListView& view, const Style& style);

// `count` blocks of a bank by address, from block `first` on.
Text block_table(const census::AddressMap& map, size_t first, size_t count, const Style& style);

// "120 out-of-memory failures, 1 circular buffer clash".
std::string count_text(const census::FailureCounts& counts);

}  // namespace ttmem::view
