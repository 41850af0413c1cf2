// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include <tt-metalium/device.hpp>
#include <tt-metalium/mesh_coord.hpp>

namespace tt::tt_metal::distributed {

// The places of devices in a mesh.
class MeshDeviceView {
public:
    MeshDeviceView(const MeshShape& shape, std::vector<IDevice*> devices);

    std::vector<IDevice*> get_devices(const MeshCoordinateRange& range) const;
    std::vector<IDevice*> get_devices() const { return devices_; }
    size_t num_devices() const { return devices_.size(); }
    const MeshShape& shape() const noexcept { return shape_; }
    bool contains(const MeshCoordinate& coord) const noexcept;
    IDevice* get_device(const MeshCoordinate& coord) const;
    MeshCoordinate find_device(ChipId device_id) const;
    size_t num_rows() const;
    size_t num_cols() const;

private:
    MeshShape shape_;
    std::vector<IDevice*> devices_;
};

}  // namespace tt::tt_metal::distributed
