// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <tt-metalium/experimental/fabric/fabric_types.hpp>

namespace tt::tt_metal::internal {

AsicID get_chip_unique_id_from_fabric_node_id(const tt::tt_fabric::FabricNodeId& fabric_node_id);
AsicID get_chip_unique_id_from_fabric_node_id(uint32_t mesh_id, uint32_t chip_id);

}  // namespace tt::tt_metal::internal
