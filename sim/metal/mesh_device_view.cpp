// SPDX-License-Identifier: Apache-2.0
#include <tt-metalium/mesh_device_view.hpp>
#include <tt_stl/assert.hpp>
#include <utility>

namespace tt::tt_metal::distributed {

MeshDeviceView::MeshDeviceView(const MeshShape& shape, std::vector<IDevice*> devices)
    : shape_(shape), devices_(std::move(devices)) {
    TT_FATAL(shape_.mesh_size() == devices_.size(), "{} devices do not fill a mesh for {}", devices_.size(),
             shape_.mesh_size());
}

std::vector<IDevice*> MeshDeviceView::get_devices(const MeshCoordinateRange& range) const {
    std::vector<IDevice*> devices;
    for (const MeshCoordinate& coord : range) {
        devices.push_back(get_device(coord));
    }
    return devices;
}

bool MeshDeviceView::contains(const MeshCoordinate& coord) const noexcept {
    return coord.dims() == shape_.dims() && MeshCoordinateRange(shape_).contains(coord);
}

IDevice* MeshDeviceView::get_device(const MeshCoordinate& coord) const {
    return devices_[coord.to_linear_index(shape_)];
}

MeshCoordinate MeshDeviceView::find_device(ChipId device_id) const {
    for (const MeshCoordinate& coord : MeshCoordinateRange(shape_)) {
        if (get_device(coord)->id() == device_id) {
            return coord;
        }
    }
    TT_THROW("chip {} is not in this mesh", device_id);
}

size_t MeshDeviceView::num_rows() const {
    TT_FATAL(shape_.dims() == 2, "only a mesh with 2 dimensions has rows");
    return shape_[0];
}

size_t MeshDeviceView::num_cols() const {
    TT_FATAL(shape_.dims() == 2, "only a mesh with 2 dimensions has columns");
    return shape_[1];
}

}  // namespace tt::tt_metal::distributed
