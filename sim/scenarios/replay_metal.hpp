// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "sim/replay.hpp"

namespace ttmem::sim {

// The whole simulated runtime: every call goes through MeshBuffer and is reported as usual. One log per process.
std::unique_ptr<ReplayTarget> open_metal_target(const Board& board, const RegionSizes& regions);

}  // namespace ttmem::sim
