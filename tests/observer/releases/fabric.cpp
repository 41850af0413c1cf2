// SPDX-License-Identifier: Apache-2.0
#include "release.hpp"

#if defined(MUTATION_UNRESOLVED)
void function_of_a_library_that_is_not_there();
void never_called() { function_of_a_library_that_is_not_there(); }
#endif

namespace tt::tt_fabric {

struct FabricNodeId {
    uint32_t mesh_id;
    uint32_t chip_id;
};

FabricNodeId get_fabric_node_id_from_physical_chip_id(int chip) { return {0, static_cast<uint32_t>(chip)}; }

}  // namespace tt::tt_fabric

#if HAS_ASIC_IDS
namespace tt::tt_metal::internal {

AsicID get_chip_unique_id_from_fabric_node_id(const tt::tt_fabric::FabricNodeId& node) {
    return {0xA51C0000u + node.chip_id};
}

}  // namespace tt::tt_metal::internal
#endif
