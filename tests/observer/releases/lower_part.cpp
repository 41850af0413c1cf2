// SPDX-License-Identifier: Apache-2.0
//
// A stand-in has three translation units, because a compiler may inline what is in one: an observer sees a call only if it
// goes from one of them to another.
#include "allocator.cpp"  // NOLINT(bugprone-suspicious-include)
#include "device.cpp"     // NOLINT(bugprone-suspicious-include)
#include "fabric.cpp"     // NOLINT(bugprone-suspicious-include)
#include "regions.cpp"    // NOLINT(bugprone-suspicious-include)
#include "tracker.cpp"    // NOLINT(bugprone-suspicious-include)
#include "truth.cpp"      // NOLINT(bugprone-suspicious-include)
