// SPDX-License-Identifier: Apache-2.0
#pragma once

// The bytes of a recording between two pushes into a stream.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "recording/recording_target.hpp"

namespace ttmem::daemon {

class StreamTarget : public recording::RecordingTarget {
public:
    // `max_bytes`: of two parts. Absent: there is one part.
    explicit StreamTarget(std::optional<uint64_t> max_bytes) : max_bytes_(max_bytes) {}

    base::Expected<void> begin_part(std::string_view header) override {
        part_bytes_ = 0;
        return append(header);
    }
    base::Expected<void> append(std::string_view block) override {
        waiting_.append(block);
        part_bytes_ += block.size();
        return {};
    }
    bool is_full() const override { return max_bytes_ && part_bytes_ >= *max_bytes_ / 2; }

    std::string take() { return std::exchange(waiting_, {}); }

private:
    const std::optional<uint64_t> max_bytes_;
    std::string waiting_;
    uint64_t part_bytes_ = 0;
};

}  // namespace ttmem::daemon
