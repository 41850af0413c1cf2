// SPDX-License-Identifier: Apache-2.0
#pragma once

// For a copy of this library that must not be the second reporter of its process.

namespace ttmem::client {

// How many finished segments of its own this process holds, whoever in it made them. Those that it only inherited from
// the process that forked it don't count.
unsigned count_own_segments();

}  // namespace ttmem::client
