// SPDX-License-Identifier: Apache-2.0
#include "sim/metal/cluster.hpp"

#include <algorithm>
#include <atomic>
#include <internal/cluster.hpp>
#include <tt-metalium/experimental/fabric/fabric.hpp>
#include <tt_stl/assert.hpp>

#include "sim/metal/options.hpp"

namespace ttmem::sim {
namespace {

std::atomic<bool> made = false;

}  // namespace

Cluster& Cluster::instance() {
    // Never destroyed: buffers and programs with static storage may use their device at process exit.
    static Cluster* const cluster = new Cluster(*metal_options().board);
    return *cluster;
}

bool Cluster::exists() { return made; }

Cluster::Cluster(const Board& board) : board_(board) {
    for (uint32_t chip = 0; chip < board.chips; ++chip) {
        devices_.push_back(std::make_unique<tt::tt_metal::Device>(board, static_cast<int>(chip)));
    }
    made = true;
}

tt::tt_metal::Device& Cluster::device(int chip) {
    TT_FATAL(chip >= 0 && static_cast<size_t>(chip) < devices_.size(),
             "board {} has {} chips, and no chip {}", board_.name, devices_.size(), chip);
    return *devices_[static_cast<size_t>(chip)];
}

}  // namespace ttmem::sim

namespace tt {

tt_fabric::FabricNodeId tt_fabric::get_fabric_node_id_from_physical_chip_id(ChipId physical_chip_id) {
    const std::vector<int> members = ttmem::sim::Cluster::instance().board().members;
    const auto found = std::ranges::find(members, physical_chip_id);
    TT_FATAL(found != members.end(), "chip {} is not in the mesh of this host", physical_chip_id);
    return FabricNodeId(MeshId{0}, static_cast<uint32_t>(found - members.begin()));
}

tt_metal::AsicID tt_metal::internal::get_chip_unique_id_from_fabric_node_id(uint32_t mesh_id,
                                                                            uint32_t chip_id) {
    const ttmem::sim::Board& board = ttmem::sim::Cluster::instance().board();
    const std::vector<int> members = board.members;
    TT_FATAL(mesh_id == 0 && chip_id < members.size(), "there is no chip {} in mesh {}", chip_id, mesh_id);
    return AsicID{ttmem::sim::asic_id(board, members[chip_id])};
}

tt_metal::AsicID tt_metal::internal::get_chip_unique_id_from_fabric_node_id(
    const tt_fabric::FabricNodeId& fabric_node_id) {
    return get_chip_unique_id_from_fabric_node_id(*fabric_node_id.mesh_id, fabric_node_id.chip_id);
}

}  // namespace tt
