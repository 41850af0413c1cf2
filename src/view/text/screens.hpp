// SPDX-License-Identifier: Apache-2.0
#pragma once

// The screens: pure functions from a view to text, one file each (<name>_text.cpp).

#include <cstdint>
#include <string>

#include "view/model/diff.hpp"
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
// The same, with devices that were asked for and are not there.
Text monitor_text(const View& view, const Style& style, const std::vector<uint32_t>& absent);

// The processes: what each holds on which device.
Text ps_text(const View& view, const Style& style);

// A page of live allocations.
Text allocations_text(const AllocationView& view, const Style& style);

// Live allocations in groups, largest first.
Text groups_text(const GroupView& view, const Style& style);

// What grew in the last minute.
Text growth_text(const GrowthView& view, const Style& style);

// What grew from mark to mark.
Text leaks_text(const LeakView& view, const Style& style);

// What each process held when it held most.
Text peak_text(const PeakView& view, const Style& style);

// The programs: their circular buffers and kernels.
Text programs_text(const ProgramView& view, const Style& style);

// A picture of each bank, and its blocks by address. Lists at most `limit` blocks per bank; 0 for all.
Text map_text(const MapView& view, const Style& style, size_t limit = 0);

// Whether a request would fit, allocator by allocator, and what would make it fit.
Text fit_text(const FitView& view, const Style& style);

// The cores of a device, least headroom first. Lists at most `limit` cores; 0 for all.
Text cores_text(const CoreView& view, const Style& style, size_t limit = 0);

// Failed allocations and what they lacked.
Text failures_text(const FailureView& view, const Style& style);

// The same, and the holders of the memory that ran out.
Text why_text(const WhyView& view, const Style& style);

// The same, and the line of each failure: those of processes that are there, then the kept ones.
struct WhyLines {
    Text text;
    std::vector<size_t> failures;
};
WhyLines why_lines(const WhyView& view, const Style& style);
Text fixes_text(const WhyView& view, const Style& style);

// Processes that died, and what one of them held.
Text post_mortems_text(const PostMortemListView& view, const Style& style);
Text post_mortem_text(const PostMortemView& view, const Style& style);
// "3 post-mortems of other users' processes"; empty if none is hidden.
std::string hidden_line(const PostMortemListView& view);

// Events as lines of one table. The lines of events that are shown one by one are aligned with the titles.
Line event_titles(const Style& style);
Line event_line(const EventView& event, const Style& style);
// The events without titles, for a screen that continues.
Text event_lines(const EventsView& view, const Style& style);
Text events_text(const EventsView& view, const Style& style);
// "3 events of other users' processes"; empty if none is hidden.
std::string hidden_events_line(uint64_t events);

// What the full height of a chart means.
enum class HistoryScale : uint8_t { capacity, highest };

// A small chart of used bytes per device and kind that ever held something. All share one axis of time. The capacities are
// those of `devices`; a chart without one is scaled to its highest value.
Text history_text(const HistoryView& view, const std::vector<census::DeviceFigures>& devices,
                  const Style& style, HistoryScale scale = HistoryScale::capacity);

// What ttmemd itself costs.
Text process_history_text(const ProcessHistoryView& view, const Style& style);
Text self_text(const SelfView& view, const Style& style);

// The report of 'ttmem run'.
Text run_text(const RunView& view, const Style& style);

// What to change.
Text advice_text(const AdviceView& view, const Style& style);

// What changed between two moments or runs.
Text diff_text(const DiffView& view, const Style& style);

Text doctor_text(const DoctorView& view, const Style& style);

}  // namespace ttmem::view
