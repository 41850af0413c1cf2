// SPDX-License-Identifier: Apache-2.0
#include <functional>
#include <numeric>
#include <tt-metalium/mesh_coord.hpp>
#include <tt_stl/assert.hpp>

namespace tt::tt_metal::distributed {
namespace {

size_t normalized(int32_t index, size_t dims) {
    const auto count = static_cast<int32_t>(dims);
    const int32_t from_start = index < 0 ? index + count : index;
    TT_FATAL(from_start >= 0 && from_start < count, "there is no dimension {} among {}", index, count);
    return static_cast<size_t>(from_start);
}

}  // namespace

MeshShape::MeshShape(uint32_t s) : value_{s} {}
MeshShape::MeshShape(uint32_t s0, uint32_t s1) : value_{s0, s1} {}
MeshShape::MeshShape(uint32_t s0, uint32_t s1, uint32_t s2) : value_{s0, s1, s2} {}
MeshShape::MeshShape(ttsl::Span<const uint32_t> span) : value_(span.begin(), span.end()) {}

uint32_t MeshShape::operator[](int32_t index) const { return value_[normalized(index, value_.size())]; }

size_t MeshShape::mesh_size() const {
    return std::accumulate(value_.begin(), value_.end(), size_t{1}, std::multiplies<>());
}

bool MeshShape::is_line_topology() const {
    size_t longer_than_one = 0;
    for (const uint32_t side : value_) {
        longer_than_one += side > 1 ? 1 : 0;
    }
    return longer_than_one <= 1;
}

MeshCoordinate::MeshCoordinate(uint32_t c) : value_{c} {}
MeshCoordinate::MeshCoordinate(uint32_t c0, uint32_t c1) : value_{c0, c1} {}
MeshCoordinate::MeshCoordinate(uint32_t c0, uint32_t c1, uint32_t c2) : value_{c0, c1, c2} {}
MeshCoordinate::MeshCoordinate(ttsl::Span<const uint32_t> coords) : value_(coords.begin(), coords.end()) {}

MeshCoordinate MeshCoordinate::zero_coordinate(size_t dimensions) {
    return MeshCoordinate(std::vector<uint32_t>(dimensions, 0));
}

uint32_t MeshCoordinate::operator[](int32_t dim) const { return value_[normalized(dim, value_.size())]; }

uint32_t& MeshCoordinate::operator[](int32_t dim) { return value_[normalized(dim, value_.size())]; }

size_t MeshCoordinate::to_linear_index(const MeshShape& shape) const {
    TT_FATAL(shape.dims() == dims(), "a coordinate with {} dimensions is none in a mesh with {}", dims(),
             shape.dims());
    size_t index = 0;
    for (size_t dim = 0; dim < dims(); ++dim) {
        const uint32_t side = shape[static_cast<int32_t>(dim)];
        TT_FATAL(value_[dim] < side, "coordinate {} is outside a mesh with {} in that dimension", value_[dim],
                 side);
        index = index * side + value_[dim];
    }
    return index;
}

MeshCoordinateRange::MeshCoordinateRange(const MeshCoordinate& start, const MeshCoordinate& end)
    : start_(start), end_(end) {
    TT_FATAL(start.dims() == end.dims(), "the corners of a range have {} and {} dimensions", start.dims(),
             end.dims());
    for (size_t dim = 0; dim < start.dims(); ++dim) {
        TT_FATAL(start.coords()[dim] <= end.coords()[dim], "a range of a mesh can't go backwards");
    }
}

MeshCoordinateRange::MeshCoordinateRange(const MeshShape& shape)
    : start_(MeshCoordinate::zero_coordinate(shape.dims())), end_(start_) {
    for (size_t dim = 0; dim < shape.dims(); ++dim) {
        end_[static_cast<int32_t>(dim)] = shape[static_cast<int32_t>(dim)] - 1;
    }
}

MeshCoordinateRange::MeshCoordinateRange(const MeshCoordinate& coord) : start_(coord), end_(coord) {}

MeshShape MeshCoordinateRange::shape() const {
    std::vector<uint32_t> sides;
    for (size_t dim = 0; dim < dims(); ++dim) {
        sides.push_back(end_.coords()[dim] - start_.coords()[dim] + 1);
    }
    return MeshShape(sides);
}

bool MeshCoordinateRange::contains(const MeshCoordinate& coord) const {
    for (size_t dim = 0; dim < dims(); ++dim) {
        if (coord.coords()[dim] < start_.coords()[dim] || coord.coords()[dim] > end_.coords()[dim]) {
            return false;
        }
    }
    return true;
}

bool MeshCoordinateRange::contains(const MeshCoordinateRange& range) const {
    return contains(range.start_) && contains(range.end_);
}

bool MeshCoordinateRange::intersects(const MeshCoordinateRange& range) const {
    for (size_t dim = 0; dim < dims(); ++dim) {
        if (end_.coords()[dim] < range.start_.coords()[dim] ||
            range.end_.coords()[dim] < start_.coords()[dim]) {
            return false;
        }
    }
    return true;
}

MeshCoordinateRange::Iterator::Iterator(const MeshCoordinateRange* range, const MeshCoordinate& current_coord,
                                        size_t linear_index)
    : range_(range), current_coord_(current_coord), linear_index_(linear_index) {}

MeshCoordinateRange::Iterator& MeshCoordinateRange::Iterator::operator++() {
    ++linear_index_;
    for (auto dim = static_cast<int32_t>(range_->dims()) - 1; dim >= 0; --dim) {
        if (current_coord_[dim] < range_->end_[dim]) {
            ++current_coord_[dim];
            return *this;
        }
        current_coord_[dim] = range_->start_[dim];
    }
    return *this;
}

MeshCoordinateRange::Iterator MeshCoordinateRange::Iterator::operator++(int) {
    Iterator before = *this;
    ++*this;
    return before;
}

MeshCoordinateRange::Iterator MeshCoordinateRange::begin() const { return {this, start_, 0}; }

MeshCoordinateRange::Iterator MeshCoordinateRange::end() const { return {this, start_, shape().mesh_size()}; }

}  // namespace tt::tt_metal::distributed

size_t std::hash<tt::tt_metal::distributed::MeshCoordinate>::operator()(
    const tt::tt_metal::distributed::MeshCoordinate& coord) const noexcept {
    size_t mixed = coord.dims();
    for (const uint32_t part : coord.coords()) {
        mixed = mixed * 0x9E3779B97F4A7C15u + part;
    }
    return mixed;
}

size_t std::hash<tt::tt_metal::distributed::MeshCoordinateRange>::operator()(
    const tt::tt_metal::distributed::MeshCoordinateRange& range) const noexcept {
    const std::hash<tt::tt_metal::distributed::MeshCoordinate> of;
    return of(range.start_coord()) * 31 + of(range.end_coord());
}
