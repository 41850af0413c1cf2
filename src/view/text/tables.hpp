// SPDX-License-Identifier: Apache-2.0
#pragma once

// Tables that appear on several screens.

#include <cstdint>
#include <string>
#include <vector>

#include "view/model/view.hpp"
#include "view/text/spans.hpp"
#include "view/text/table.hpp"

namespace ttmem::view {

// With a legend of its marks below.
Text allocation_table(const std::vector<census::LiveAllocation>& allocations, const Style& style);

// Bytes in a column are those on one device, or sums over all: the titles of sums say so.
enum class GroupSumsOver : uint8_t { one_device, all_devices };
GroupSumsOver sums_of(const GroupView& view);
Text group_table(const std::vector<census::Group>& groups, census::GroupBy by, GroupSumsOver over,
                 const Style& style);

// "DRAM" on one device, "DRAM SUM" over all. The same word means the same on every screen.
std::string kind_title(census::Kind kind);
std::string sum_title(const std::string& title, GroupSumsOver over = GroupSumsOver::all_devices);

// "1.2 GiB of dram, 3.0 MiB of l1": the sums of groups, kind by kind.
std::string sums_text(const std::vector<census::Group>& groups);

Text growth_table(const std::vector<NameGrowth>& names, const Style& style);
// "12 names have changed in the last 1m00s".
std::string growth_title(const GrowthView& view);

Text leak_table(const std::vector<NameLeak>& leaks, const Style& style);
// "2 names grow from mark to mark".
std::string leaks_title(const LeakView& view);

// Numbered rows, and details of each row below the table.
Text failure_table(const std::vector<census::FailureFigures>& failures, const Style& style);

// The card of a failure; nothing if it has none.
Text card_text(const census::FailureFigures& failure, const std::string& title, const Style& style);

// What would make a refused request fit, and what would have made that of a card fit.
Text ways_text(const census::WaysOut& ways, census::Kind kind, uint32_t banks, const Style& style);
Text fix_text(const census::FailureCard& card, const Style& style);

// Post-mortems that follow each other in a list and differ only in time and pid.
struct EqualPostMortems {
    const census::PostMortemSummary* newest = nullptr;
    const census::PostMortemSummary* oldest = nullptr;
    uint64_t number = 1;
    std::vector<Line> row;  // without time and pid
};

// The last post-mortem comes first.
std::vector<EqualPostMortems> fold_post_mortems(
    const std::vector<const census::PostMortemSummary*>& post_mortems, const Style& style);

// One row each, below the line of titles.
Text post_mortem_table(const std::vector<EqualPostMortems>& post_mortems, uint64_t now_ns,
                       const Style& style);

// "exit 1", "SIGKILL", "exec" or "not known".
std::string ending_text(const census::PostMortemSummary& summary);

// `count` blocks of a bank by address, from block `first` on.
Text block_table(const census::AddressMap& map, size_t first, size_t count, const Style& style);

// "120 out-of-memory failures, 1 circular buffer clash".
std::string count_text(const census::FailureCounts& counts);

}  // namespace ttmem::view
