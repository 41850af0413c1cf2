// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <utility>

namespace tt::tt_metal {

class Shape2D final {
public:
    Shape2D(size_t height, size_t width) : height_(height), width_(width) {}
    Shape2D(const std::pair<size_t, size_t>& size) : Shape2D(size.first, size.second) {}

    bool operator==(const Shape2D&) const = default;

    size_t height() const { return height_; }
    size_t width() const { return width_; }

private:
    size_t height_;
    size_t width_;
};

}  // namespace tt::tt_metal
