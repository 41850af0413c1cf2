// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a daemon saw, for people.

#include <string>

#include "view/chronicle.hpp"
#include "view/table.hpp"

namespace ttmem::view {

// One event, on one line without its end.
std::string event_line(const EventView& event, const Style& style);
std::string events_text(const EventsView& view, const Style& style);

// A small chart of used bytes for each device and kind that ever held something.
std::string history_text(const HistoryView& view, const Style& style);

// What ttmemd itself costs.
std::string self_text(const SelfView& view, const Style& style);

}  // namespace ttmem::view
