// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace ttmem::sources::stock_region {

// Whether a process can still hold device memory, from the text of its /proc/PID/stat. A zombie holds none, because the
// kernel has closed its descriptors. A process whose main thread has ended also looks like a zombie, but its other
// threads still hold memory. A kernel thread never holds any; its low pid often equals that of a process in a
// container.
bool can_hold_memory(std::string_view stat);

}  // namespace ttmem::sources::stock_region
