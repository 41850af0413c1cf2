// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the daemon says about its history. Any thread may call this.

#include "history/event_history.hpp"
#include "view/questions/history_views.hpp"
#include "view/questions/self.hpp"

namespace ttmem::daemon {

using view::list_events;
using view::list_series;

// Sets the fields that describe the history.
void describe(const history::EventHistory& history, view::SelfView& self);

}  // namespace ttmem::daemon
