// SPDX-License-Identifier: Apache-2.0
#pragma once

// Answers from the history, as views. Any thread may call these functions.

#include <cstdint>
#include <functional>
#include <vector>

#include "history/event_history.hpp"
#include "view/questions/events.hpp"
#include "view/questions/history.hpp"
#include "view/questions/self.hpp"

namespace ttmem::daemon {

// At most view::kMostRows events; `next` says where the others begin.
// `may_see` decides by the user of the process. The caller sets the origin.
view::EventsView list_events(const history::EventHistory& history, const view::EventQuery& query,
                             const std::function<bool(uint32_t uid)>& may_see);

std::vector<view::SeriesView> list_series(const history::EventHistory& history,
                                          const view::HistoryQuery& query);

// Sets the fields that describe the history.
void describe(const history::EventHistory& history, view::SelfView& self);

}  // namespace ttmem::daemon
