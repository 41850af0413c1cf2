// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <tt_stl/strong_type.hpp>

namespace tt::tt_fabric {

using MeshId = ttsl::StrongType<uint32_t, struct MeshIdTag>;

class FabricNodeId {
public:
    explicit FabricNodeId(MeshId mesh_id_val, uint32_t chip_id_val)
        : mesh_id(mesh_id_val), chip_id(chip_id_val) {}

    MeshId mesh_id{0};
    uint32_t chip_id = 0;

    friend bool operator==(const FabricNodeId&, const FabricNodeId&) = default;
    friend auto operator<=>(const FabricNodeId&, const FabricNodeId&) = default;
};

}  // namespace tt::tt_fabric

namespace tt::tt_metal {

using AsicID = ttsl::StrongType<uint64_t, struct AsicIDTag>;

}  // namespace tt::tt_metal
