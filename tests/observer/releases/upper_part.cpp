// SPDX-License-Identifier: Apache-2.0
#include "buffer.cpp"    // NOLINT(bugprone-suspicious-include)
#include "mesh.cpp"      // NOLINT(bugprone-suspicious-include)
#include "scenario.cpp"  // NOLINT(bugprone-suspicious-include)
#include "view.cpp"      // NOLINT(bugprone-suspicious-include)
