// SPDX-License-Identifier: Apache-2.0
#pragma once

// The screens: pure functions from a view to text, one file each (<name>_text.cpp).

#include "view/model/doctor.hpp"
#include "view/model/run.hpp"
#include "view/model/view.hpp"
#include "view/text/spans.hpp"
#include "view/text/table.hpp"

namespace ttmem::view {

// The devices: memory in use on each, and how near it is to its limits.
Text status_text(const View& view, const Style& style);

// Each device in detail, with a bar per kind of memory, for 'ttmem monitor'.
Text breakdown_text(const View& view, const Style& style);

// The processes: what each holds on which device.
Text ps_text(const View& view, const Style& style);

// A page of live allocations.
Text allocations_text(const AllocationView& view, const Style& style);

// Live allocations in groups, largest first.
Text groups_text(const GroupView& view, const Style& style);

// The programs: their circular buffers and kernels.
Text programs_text(const ProgramView& view, const Style& style);

// A picture of each bank, and its blocks by address. Lists at most `limit` blocks per bank; 0 for all.
Text map_text(const MapView& view, const Style& style, size_t limit = 0);

// Failed allocations and what they lacked.
Text failures_text(const FailureView& view, const Style& style);

// The same, and the holders of the memory that ran out.
Text why_text(const WhyView& view, const Style& style);

// Processes that died, and what one of them held.
Text post_mortems_text(const PostMortemListView& view, const Style& style);
Text post_mortem_text(const PostMortemView& view, const Style& style);

Line event_line(const EventView& event, const Style& style);
Text events_text(const EventsView& view, const Style& style);

// A small chart of used bytes per device and kind that ever held something.
Text history_text(const HistoryView& view, const Style& style);

// What ttmemd itself costs.
Text self_text(const SelfView& view, const Style& style);

// The report of 'ttmem run'.
Text run_text(const RunView& view, const Style& style);

Text doctor_text(const DoctorView& view, const Style& style);

}  // namespace ttmem::view
