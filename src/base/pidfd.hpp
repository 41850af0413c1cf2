// SPDX-License-Identifier: Apache-2.0
#pragma once

// A process as the kernel holds it: a descriptor that always refers to that process, even after its number is reused.

#include <sys/types.h>

#include <optional>

#include "base/descriptor.hpp"

namespace ttmem::base {

// Empty where there is no such process (any more).
Descriptor open_process(pid_t pid);

// The kernel's word on it. A zombie has ended; a process whose main thread is gone and others run on has not.
bool has_ended(const Descriptor& process);

// How it ended, as wait(2) reports it, for any process and also after its parent has asked. Absent: it has not ended, its parent
// has not asked yet, or the kernel is older than Linux 6.15.
std::optional<int> exit_status(const Descriptor& process);

}  // namespace ttmem::base
