// SPDX-License-Identifier: Apache-2.0
#pragma once

// How long the kernel lets a thread run before others. A thread with a short slice gets a processor sooner when it wakes, and gives
// it up sooner: right for one that sleeps most of the time and is waited for. Its share of the processor stays the same.

#include <cstdint>
#include <optional>

namespace ttmem::base {

// For the calling thread, not for threads that it starts. False where the kernel is older than Linux 6.12, which knows one slice
// for all, or forbids it.
bool use_short_slice();

// The slice of the calling thread. Absent where the kernel knows one for all.
std::optional<uint64_t> slice_ns();

}  // namespace ttmem::base
