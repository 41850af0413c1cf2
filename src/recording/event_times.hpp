// SPDX-License-Identifier: Apache-2.0
#pragma once

// The moments of a recording at which something happened, one at a time.

#include <cstdint>
#include <optional>

#include "recording/recording.hpp"

namespace ttmem::recording {

// The time of the first event after a moment; absent if there is none. Reads only the blocks around the moment.
std::optional<uint64_t> next_event_ns(const Recording& recording, uint64_t time_ns);

// The time of the last event before a moment.
std::optional<uint64_t> previous_event_ns(const Recording& recording, uint64_t time_ns);

}  // namespace ttmem::recording
