// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tt-metalium/device_types.hpp>
#include <tt-metalium/experimental/fabric/fabric_types.hpp>

namespace tt::tt_fabric {

// A chip's fabric node id is its row-major index in the mesh of the whole board.
FabricNodeId get_fabric_node_id_from_physical_chip_id(ChipId physical_chip_id);

}  // namespace tt::tt_fabric
