// SPDX-License-Identifier: Apache-2.0
#pragma once

// Ending allocations: one, or all that a test picks.

#include "client/recorder.hpp"

namespace ttmem::client {

// Frees one allocation wherever it is indexed; false if it is not live at that generation.
bool free_slot(State& state, Recorder& recorder, segment::SlotRef ref);

// Frees every live allocation of a set, by a scan of the ledger.
void free_set(State& state, Recorder& recorder, uint32_t set);

}  // namespace ttmem::client
