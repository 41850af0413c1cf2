// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <vector>

#include <tt_stl/span.hpp>

namespace tt::tt_metal::distributed {

class MeshShape {
public:
    explicit MeshShape(uint32_t s);
    MeshShape(uint32_t s0, uint32_t s1);
    MeshShape(uint32_t s0, uint32_t s1, uint32_t s2);
    explicit MeshShape(ttsl::Span<const uint32_t> span);

    // A negative index counts from the end.
    uint32_t operator[](int32_t index) const;
    size_t dims() const { return value_.size(); }
    size_t mesh_size() const;
    bool is_line_topology() const;

    friend bool operator==(const MeshShape&, const MeshShape&) = default;

private:
    std::vector<uint32_t> value_;
};

class MeshCoordinate {
public:
    explicit MeshCoordinate(uint32_t c);
    MeshCoordinate(uint32_t c0, uint32_t c1);
    MeshCoordinate(uint32_t c0, uint32_t c1, uint32_t c2);
    explicit MeshCoordinate(ttsl::Span<const uint32_t> coords);
    static MeshCoordinate zero_coordinate(size_t dimensions);

    size_t dims() const { return value_.size(); }
    ttsl::Span<const uint32_t> coords() const { return value_; }
    uint32_t operator[](int32_t dim) const;
    uint32_t& operator[](int32_t dim);

    // Row-major; throws if the coordinate is outside the shape.
    size_t to_linear_index(const MeshShape& shape) const;

    friend bool operator==(const MeshCoordinate&, const MeshCoordinate&) = default;
    friend auto operator<=>(const MeshCoordinate&, const MeshCoordinate&) = default;

private:
    std::vector<uint32_t> value_;
};

// A box of coordinates, both corners included.
class MeshCoordinateRange {
public:
    MeshCoordinateRange(const MeshCoordinate& start, const MeshCoordinate& end);
    explicit MeshCoordinateRange(const MeshShape& shape);
    explicit MeshCoordinateRange(const MeshCoordinate& coord);

    size_t dims() const { return start_.dims(); }
    const MeshCoordinate& start_coord() const { return start_; }
    const MeshCoordinate& end_coord() const { return end_; }
    MeshShape shape() const;

    bool contains(const MeshCoordinate& coord) const;
    bool contains(const MeshCoordinateRange& range) const;
    bool intersects(const MeshCoordinateRange& range) const;

    // Row-major.
    class Iterator {
    public:
        using iterator_category = std::forward_iterator_tag;
        using value_type = MeshCoordinate;
        using difference_type = ptrdiff_t;
        using pointer = const MeshCoordinate*;
        using reference = const MeshCoordinate&;

        Iterator() : current_coord_(MeshCoordinate::zero_coordinate(0)) {}

        Iterator& operator++();
        Iterator operator++(int);
        const MeshCoordinate& operator*() const { return current_coord_; }
        bool operator==(const Iterator& other) const { return linear_index_ == other.linear_index_; }

    private:
        friend class MeshCoordinateRange;
        Iterator(const MeshCoordinateRange* range, const MeshCoordinate& current_coord, size_t linear_index);

        const MeshCoordinateRange* range_ = nullptr;
        MeshCoordinate current_coord_;
        size_t linear_index_ = 0;
    };

    Iterator begin() const;
    Iterator end() const;

    friend bool operator==(const MeshCoordinateRange&, const MeshCoordinateRange&) = default;
    friend auto operator<=>(const MeshCoordinateRange&, const MeshCoordinateRange&) = default;

private:
    MeshCoordinate start_;
    MeshCoordinate end_;
};

}  // namespace tt::tt_metal::distributed

template <>
struct std::hash<tt::tt_metal::distributed::MeshCoordinate> {
    size_t operator()(const tt::tt_metal::distributed::MeshCoordinate& coord) const noexcept;
};

template <>
struct std::hash<tt::tt_metal::distributed::MeshCoordinateRange> {
    size_t operator()(const tt::tt_metal::distributed::MeshCoordinateRange& range) const noexcept;
};
