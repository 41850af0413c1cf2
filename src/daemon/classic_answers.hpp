// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the classic wire answers, from the census of the whole host: what its own clients hold and what everyone else does, in
// requested bytes, as those who ask expect it.

#include <string>
#include <vector>

#include "census/census.hpp"
#include "sources/classic_wire/message.hpp"

namespace ttmem::daemon {

// What is held on the device that was asked about, or with device -1 on all.
sources::classic_wire::Answer answer_query(const census::Census& census,
                                           const sources::classic_wire::Request& request);

// What the device is; with device -1, how many there are (the highest number and one).
sources::classic_wire::Answer answer_device_info(const census::Census& census,
                                                 const sources::classic_wire::Request& request);

// The dumps, line by line. They take a scan of all ledgers.
std::vector<std::string> dump_buffers(const census::Census& census);
std::vector<std::string> dump_kernels(const census::Census& census);

}  // namespace ttmem::daemon
