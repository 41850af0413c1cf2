// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds the processes that have a device open. The driver lists the process that opened the device. A child that
// inherited the descriptor is not listed; its parent is listed until the descriptor is closed.

#include <string>

#include "census/driver.hpp"
#include "sources/proc.hpp"

namespace ttmem::sources::driver {

// Sets the holders of the driver's devices, ordered by pid. The source is <proc>/driver/tenstorrent/N/pids or, if a device
// has no such file, the readable links below <proc>/PID/fd. No link is followed.
void find_holders(census::Driver& driver, const Proc& proc, const std::string& proc_root,
                  const std::string& dev_root);

}  // namespace ttmem::sources::driver
