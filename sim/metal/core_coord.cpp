// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <tt-metalium/core_coord.hpp>
#include <tt_stl/assert.hpp>
#include <utility>

namespace tt {

std::string xy_pair::str() const { return fmt::format("{}-{}", x, y); }

}  // namespace tt

namespace tt::tt_metal {

CoreRange::CoreRange(const CoreCoord& point) : CoreRange(point, point) {}

CoreRange::CoreRange(const CoreCoord& start, const CoreCoord& end) : start_coord(start), end_coord(end) {
    TT_FATAL(start.x <= end.x && start.y <= end.y, "a range of cores can't go from {} back to {}",
             start.str(), end.str());
}

bool CoreRange::intersects(const CoreRange& other) const { return intersection(other).has_value(); }

std::optional<CoreRange> CoreRange::intersection(const CoreRange& other) const {
    const CoreCoord start(std::max(start_coord.x, other.start_coord.x),
                          std::max(start_coord.y, other.start_coord.y));
    const CoreCoord end(std::min(end_coord.x, other.end_coord.x), std::min(end_coord.y, other.end_coord.y));
    if (start.x > end.x || start.y > end.y) {
        return std::nullopt;
    }
    return CoreRange(start, end);
}

bool CoreRange::contains(const CoreCoord& other) const {
    return start_coord.x <= other.x && other.x <= end_coord.x && start_coord.y <= other.y &&
           other.y <= end_coord.y;
}

bool CoreRange::contains(const CoreRange& other) const {
    return contains(other.start_coord) && contains(other.end_coord);
}

std::string CoreRange::str() const { return fmt::format("[{} - {}]", start_coord.str(), end_coord.str()); }

size_t CoreRange::size() const { return grid_size().x * grid_size().y; }

CoreCoord CoreRange::grid_size() const {
    return {end_coord.x - start_coord.x + 1, end_coord.y - start_coord.y + 1};
}

CoreRange::CoreIterator::CoreIterator(const CoreCoord& current, const CoreRange& core_range)
    : current_(current), range_(core_range) {}

CoreCoord& CoreRange::CoreIterator::operator*() { return current_; }

CoreRange::CoreIterator& CoreRange::CoreIterator::operator++() {
    if (current_.x < range_.end_coord.x) {
        ++current_.x;
    } else {
        current_ = {range_.start_coord.x, current_.y + 1};
    }
    return *this;
}

bool CoreRange::CoreIterator::operator==(const CoreIterator& other) const {
    return current_ == other.current_;
}

bool CoreRange::CoreIterator::operator!=(const CoreIterator& other) const { return !(*this == other); }

CoreRange::CoreIterator CoreRange::begin() const { return {start_coord, *this}; }

CoreRange::CoreIterator CoreRange::end() const { return {CoreCoord(start_coord.x, end_coord.y + 1), *this}; }

CoreRangeSet::CoreRangeSet(const CoreRange& core_range) : ranges_{core_range} {}

CoreRangeSet::CoreRangeSet(ttsl::Span<const CoreRange> core_ranges)
    : ranges_(core_ranges.begin(), core_ranges.end()) {
    validate_no_overlap();
}

CoreRangeSet::CoreRangeSet(ttsl::Span<const CoreCoord> core_coords)
    : ranges_(core_coords.begin(), core_coords.end()) {
    validate_no_overlap();
}

CoreRangeSet::CoreRangeSet(const std::set<CoreRange>& core_ranges)
    : ranges_(core_ranges.begin(), core_ranges.end()) {
    validate_no_overlap();
}

CoreRangeSet::CoreRangeSet(std::vector<CoreRange>&& core_ranges) : ranges_(std::move(core_ranges)) {
    validate_no_overlap();
}

void CoreRangeSet::validate_no_overlap() const {
    for (auto range = ranges_.begin(); range != ranges_.end(); ++range) {
        for (auto other = std::next(range); other != ranges_.end(); ++other) {
            TT_FATAL(!range->intersects(*other), "the core ranges {} and {} overlap", range->str(),
                     other->str());
        }
    }
}

bool CoreRangeSet::empty() const { return ranges_.empty(); }

size_t CoreRangeSet::size() const { return ranges_.size(); }

uint32_t CoreRangeSet::num_cores() const {
    size_t cores = 0;
    for (const CoreRange& range : ranges_) {
        cores += range.size();
    }
    return static_cast<uint32_t>(cores);
}

const std::vector<CoreRange>& CoreRangeSet::ranges() const { return ranges_; }

CoreRange CoreRangeSet::bounding_box() const {
    TT_FATAL(!ranges_.empty(), "no cores have no bounding box");
    CoreCoord start = ranges_.front().start_coord;
    CoreCoord end = ranges_.front().end_coord;
    for (const CoreRange& range : ranges_) {
        start = {std::min(start.x, range.start_coord.x), std::min(start.y, range.start_coord.y)};
        end = {std::max(end.x, range.end_coord.x), std::max(end.y, range.end_coord.y)};
    }
    return {start, end};
}

bool CoreRangeSet::intersects(const CoreCoord& other) const { return contains(other); }

bool CoreRangeSet::intersects(const CoreRange& other) const {
    return std::ranges::any_of(ranges_, [&](const CoreRange& range) { return range.intersects(other); });
}

bool CoreRangeSet::intersects(const CoreRangeSet& other) const {
    return std::ranges::any_of(ranges_, [&](const CoreRange& range) { return other.intersects(range); });
}

bool CoreRangeSet::contains(const CoreCoord& other) const {
    return std::ranges::any_of(ranges_, [&](const CoreRange& range) { return range.contains(other); });
}

std::string CoreRangeSet::str() const {
    std::string text;
    for (const CoreRange& range : ranges_) {
        text += (text.empty() ? "" : ", ") + range.str();
    }
    return "{" + text + "}";
}

bool operator==(const CoreRangeSet& a, const CoreRangeSet& b) {
    std::vector<CoreRange> left = a.ranges();
    std::vector<CoreRange> right = b.ranges();
    std::ranges::sort(left);
    std::ranges::sort(right);
    return left == right;
}

bool operator!=(const CoreRangeSet& a, const CoreRangeSet& b) { return !(a == b); }

std::vector<CoreCoord> grid_to_cores(uint32_t num_cores, uint32_t grid_size_x, uint32_t grid_size_y,
                                     bool row_wise) {
    TT_FATAL(num_cores <= grid_size_x * grid_size_y, "a grid of {} x {} has no {} cores", grid_size_x,
             grid_size_y, num_cores);
    std::vector<CoreCoord> cores;
    for (uint32_t i = 0; i < num_cores; ++i) {
        cores.emplace_back(row_wise ? i % grid_size_x : i / grid_size_y,
                           row_wise ? i / grid_size_x : i % grid_size_y);
    }
    return cores;
}

std::vector<CoreCoord> corerange_to_cores(const CoreRangeSet& crs, std::optional<uint32_t> max_cores,
                                          bool row_wise) {
    std::vector<CoreCoord> cores;
    for (const CoreRange& range : crs.ranges()) {
        const CoreCoord grid = range.grid_size();
        for (const CoreCoord& core :
             grid_to_cores(static_cast<uint32_t>(range.size()), static_cast<uint32_t>(grid.x),
                           static_cast<uint32_t>(grid.y), row_wise)) {
            if (max_cores && cores.size() == *max_cores) {
                return cores;
            }
            cores.emplace_back(range.start_coord.x + core.x, range.start_coord.y + core.y);
        }
    }
    return cores;
}

}  // namespace tt::tt_metal
