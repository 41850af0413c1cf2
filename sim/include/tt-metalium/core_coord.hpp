// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <tt_stl/span.hpp>
#include <umd/device/types/xy_pair.hpp>

namespace tt::tt_metal {

using CoreCoord = tt_xy_pair;

class CoreRangeSet;

// A rectangle of cores, both corners included.
class CoreRange {
public:
    CoreCoord start_coord;
    CoreCoord end_coord;

    CoreRange(const CoreCoord& point);
    CoreRange(const CoreCoord& start_coord, const CoreCoord& end_coord);

    bool intersects(const CoreRange& other) const;
    std::optional<CoreRange> intersection(const CoreRange& other) const;
    bool contains(const CoreCoord& other) const;
    bool contains(const CoreRange& other) const;

    std::string str() const;
    size_t size() const;
    CoreCoord grid_size() const;

    // Row by row.
    class CoreIterator {
    public:
        CoreIterator(const CoreCoord& current, const CoreRange& core_range);

        CoreCoord& operator*();
        CoreIterator& operator++();
        bool operator==(const CoreIterator& other) const;
        bool operator!=(const CoreIterator& other) const;

    private:
        CoreCoord current_;
        const CoreRange& range_;
    };

    CoreIterator begin() const;
    CoreIterator end() const;

    friend constexpr bool operator==(const CoreRange&, const CoreRange&) = default;
    friend constexpr auto operator<=>(const CoreRange&, const CoreRange&) = default;
};

// Rectangles that don't overlap.
class CoreRangeSet {
public:
    CoreRangeSet() = default;
    CoreRangeSet(const CoreRange& core_range);
    CoreRangeSet(ttsl::Span<const CoreRange> core_ranges);
    CoreRangeSet(ttsl::Span<const CoreCoord> core_coords);
    CoreRangeSet(const std::set<CoreRange>& core_ranges);
    CoreRangeSet(std::vector<CoreRange>&& core_ranges);

    bool empty() const;
    size_t size() const;
    uint32_t num_cores() const;
    const std::vector<CoreRange>& ranges() const;
    CoreRange bounding_box() const;

    bool intersects(const CoreCoord& other) const;
    bool intersects(const CoreRange& other) const;
    bool intersects(const CoreRangeSet& other) const;
    bool contains(const CoreCoord& other) const;

    std::string str() const;

private:
    void validate_no_overlap() const;

    std::vector<CoreRange> ranges_;
};

bool operator==(const CoreRangeSet& a, const CoreRangeSet& b);
bool operator!=(const CoreRangeSet& a, const CoreRangeSet& b);

std::vector<CoreCoord> grid_to_cores(uint32_t num_cores, uint32_t grid_size_x, uint32_t grid_size_y,
                                     bool row_wise = false);
std::vector<CoreCoord> corerange_to_cores(const CoreRangeSet& crs,
                                          std::optional<uint32_t> max_cores = std::nullopt,
                                          bool row_wise = false);

}  // namespace tt::tt_metal
