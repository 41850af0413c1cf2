// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace ttmem::sources::stock_region {

// Whether a process can still hold device memory, from the text of its /proc/PID/stat. A zombie holds none: the kernel has
// closed its descriptors. One whose main thread has ended looks like a zombie too, and holds what its other threads use.
// A thread of the kernel never holds any; its small number is easily that of a process in a container.
bool can_hold_memory(std::string_view stat);

}  // namespace ttmem::sources::stock_region
