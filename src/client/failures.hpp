// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "client/state.hpp"

namespace ttmem::client {

// Names a free of something that is not there: by device number and address, or (device null) by its handle.
void report_unknown_free(State& state, const int32_t* device, uint64_t what);

}  // namespace ttmem::client
