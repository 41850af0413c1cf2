// SPDX-License-Identifier: Apache-2.0
#pragma once

// The meshes that processes describe: open device sets with a shape.

#include <vector>

#include "census/device_table.hpp"
#include "census/figures.hpp"
#include "census/report.hpp"

namespace ttmem::census {

// Each mesh once, the largest first. A shape that does not fit its devices is left out: a segment may be hostile.
std::vector<MeshFigures> described_meshes(const std::vector<Report>& reports, const DeviceTable& table);

}  // namespace ttmem::census
