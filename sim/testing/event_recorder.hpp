// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <tt-metalium/graph_tracking.hpp>

// Prints GraphTracker's events as one JSON line each, in the form of the recorded logs. Uses only tt-metal's public API,
// so the same source records the real runtime.
namespace event_recorder {

std::shared_ptr<tt::tt_metal::IGraphProcessor> make_processor();

// The phase of the events that follow.
void phase(std::string_view name);

// The name of the calling thread in the events.
void name_thread(const char* name);

}  // namespace event_recorder
