// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the visible screen asks for beyond the status, and the answer. Nothing else is ever asked for. Two queries are the same
// where they compare equal.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "view/questions/questions.hpp"

namespace ttmem::tui {

// An allocation in its pool, as lists of allocations name it.
struct MapTarget {
    uint32_t pid = 0;
    census::Kind kind = census::Kind::dram;
    std::optional<std::string> set = {};  // absent: not known
    uint64_t address = 0;

    bool operator==(const MapTarget&) const = default;
};

// A map with the blocks of one pool; of the others, that they are there. A host may have hundreds of pools.
struct PoolMapQuery {
    view::MapQuery map = {};
    std::optional<size_t> pool = {};  // absent: that of the target, or the one with the most in it
    std::optional<MapTarget> target = {};

    bool operator==(const PoolMapQuery&) const = default;
};

// What happened on a device in the last hour.
struct DevicePastQuery {
    uint32_t device = 0;

    bool operator==(const DevicePastQuery&) const = default;
};
struct DevicePastView {
    view::HistoryView history;
    view::WhyView why;
    view::PostMortemListView post_mortems;
};

using ScreenQuery = view::Questions::AnyQuery<PoolMapQuery, DevicePastQuery>;
using ScreenView = view::Questions::AnyView<DevicePastView>;

struct ScreenAnswer {
    ScreenQuery query;
    ScreenView view;
    std::string problem;  // why there is no view
};

// What a recording does from now on.
struct PlaybackJump {
    enum class JumpTarget : uint8_t { moment, event_after, event_before };

    JumpTarget target = JumpTarget::moment;
    uint64_t time_ns = 0;  // of a moment

    bool operator==(const PlaybackJump&) const = default;
};
struct Playback {
    bool is_playing = false;
    double speed = 1;  // seconds of the recording per second
    std::optional<PlaybackJump> jump = {};

    bool operator==(const Playback&) const = default;
};

// The pool of a map that is meant: this one, that of the target, or the one with the most in it.
size_t chosen_pool(const std::vector<census::AddressMap>& maps, std::optional<size_t> wanted,
                   const std::optional<MapTarget>& target);

}  // namespace ttmem::tui
