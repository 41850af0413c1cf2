// SPDX-License-Identifier: Apache-2.0
#pragma once

// Streams of the daemon.

#include <chrono>
#include <functional>

#include "base/error.hpp"
#include "view/questions/events.hpp"
#include "view/questions/status.hpp"

namespace ttmem::access {

// Both functions return when the callback returns false or the descriptor `until` is readable (-1: none). They return
// an error, with the codes of http_stream(), if no daemon runs or the daemon ends.

// Passes the view to the callback, then each changed view, at most once per `interval`.
base::Expected<void> follow_view(std::chrono::milliseconds interval,
                                 const std::function<bool(const view::View&)>& take, int until = -1);

// Passes matching events to the callback, from query.since on or from now on: one event, or the number of those that are
// missed or hidden before the next one.
using TakeRecentEvents = std::function<bool(view::EventsView recent)>;
base::Expected<void> follow_events(view::EventQuery query, const TakeRecentEvents& take, int until = -1);

}  // namespace ttmem::access
