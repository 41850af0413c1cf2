// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "client/state.hpp"
#include "segment/chip_peaks.hpp"

namespace ttmem::client {

// The peaks of the devices of this process. The caller holds peak_lock while it uses them.
segment::ChipPeaks chip_peaks(State& state);

}  // namespace ttmem::client
