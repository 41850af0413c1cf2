// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include <tt-metalium/device.hpp>
#include <tt-metalium/mesh_coord.hpp>

namespace tt::tt_metal::distributed {

// Which device sits where in a mesh.
class MeshDeviceView {
public:
    MeshDeviceView(const MeshShape& shape, std::vector<IDevice*> devices);

    [[nodiscard]] std::vector<IDevice*> get_devices(const MeshCoordinateRange& range) const;
    [[nodiscard]] std::vector<IDevice*> get_devices() const { return devices_; }
    [[nodiscard]] std::size_t num_devices() const { return devices_.size(); }
    [[nodiscard]] const MeshShape& shape() const noexcept { return shape_; }
    [[nodiscard]] bool contains(const MeshCoordinate& coord) const noexcept;
    [[nodiscard]] IDevice* get_device(const MeshCoordinate& coord) const;
    [[nodiscard]] MeshCoordinate find_device(ChipId device_id) const;
    [[nodiscard]] std::size_t num_rows() const;
    [[nodiscard]] std::size_t num_cols() const;

private:
    MeshShape shape_;
    std::vector<IDevice*> devices_;
};

}  // namespace tt::tt_metal::distributed
