// SPDX-License-Identifier: Apache-2.0
#pragma once

// What people read: pure functions from a view to text, so that a test can hold each screen.

#include <string>

#include "view/table.hpp"
#include "view/view.hpp"

namespace ttmem::view {

// The devices: what is in use of each, and how near it is to its limits.
std::string status_text(const View& view, const Style& style);

// Each device by itself, with a bar for each kind of its memory: what a monitor shows.
std::string breakdown_text(const View& view, const Style& style);

// The processes: what each holds on which device.
std::string ps_text(const View& view, const Style& style);

// A page of live allocations.
std::string allocations_text(const AllocationView& view, const Style& style);

// What is live in groups, the largest first.
std::string groups_text(const GroupView& view, const Style& style);

// The programs: their circular buffers and kernels.
std::string programs_text(const ProgramView& view, const Style& style);

// Who is where: a picture of each bank, and its blocks by address, at most `limit` of them; 0 for all.
std::string map_text(const MapView& view, const Style& style, size_t limit = 0);

// What did not work, and by how much.
std::string failures_text(const FailureView& view, const Style& style);

// The same with who holds the memory that ran out.
std::string why_text(const WhyView& view, const Style& style);

// Who died, and what one of them held.
std::string post_mortems_text(const PostMortemListView& view, const Style& style);
std::string post_mortem_text(const PostMortemView& view, const Style& style);

}  // namespace ttmem::view
