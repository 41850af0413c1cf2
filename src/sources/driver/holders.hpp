// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which processes have a device open. The driver lists the process that opened it: whoever has the descriptor
// from a parent is not listed, while the parent is for as long as the descriptor lives.

#include <cstdint>
#include <string>
#include <vector>

#include "census/driver.hpp"
#include "sources/proc.hpp"

namespace ttmem::sources::driver {

// The holders of `devices` (numbers of /dev/tenstorrent), by pid: from <proc>/driver/tenstorrent/N/pids, and where
// a device has no such file from the links below <proc>/PID/fd, as far as those may be read. No link is followed.
std::vector<census::Holder> find_holders(const std::vector<uint32_t>& devices, const Proc& proc,
                                         const std::string& proc_root, const std::string& dev_root);

}  // namespace ttmem::sources::driver
