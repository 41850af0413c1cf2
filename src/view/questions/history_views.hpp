// SPDX-License-Identifier: Apache-2.0
#pragma once

// Answers from a history, as views. Any thread may call these functions.

#include <cstdint>
#include <functional>
#include <vector>

#include "history/event_history.hpp"
#include "view/questions/events.hpp"
#include "view/questions/history.hpp"

namespace ttmem::view {

// The clocks of the host of a history.
struct HistoryTime {
    uint64_t now_ns = 0;           // monotonic
    uint64_t epoch_offset_ns = 0;  // a time since the epoch minus the monotonic one

    // This host, now.
    static HistoryTime here();
};

// At most kMostRows events; `next` says where the others begin.
// `may_see` decides by the user of the process. The caller sets the origin.
EventsView list_events(const history::EventHistory& history, const EventQuery& query,
                       const std::function<bool(uint32_t uid)>& may_see,
                       const HistoryTime& time = HistoryTime::here());

std::vector<SeriesView> list_series(const history::EventHistory& history, const HistoryQuery& query);

}  // namespace ttmem::view
