// SPDX-License-Identifier: Apache-2.0
#pragma once

// For a copy of this library that must not be the second reporter of its process.

namespace ttmem::client {

// How many finished segments of its own this process holds, made by any library in it. Those that it inherited from the
// process that forked it don't count.
unsigned count_own_segments();

}  // namespace ttmem::client
