// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the visible screen wants to know beyond the status, and the answer. Nothing else is ever asked for.

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "view/chronicle.hpp"
#include "view/view.hpp"

namespace ttmem::tui {

struct Question {
    enum class About : uint8_t {
        nothing,
        allocations,
        groups,
        map,
        cores,
        events,
        failures,
        post_mortems,
        post_mortem,
        past
    };

    About about = About::nothing;
    census::AllocationQuery allocations = {};  // also of groups
    census::MapQuery map = {};
    std::optional<std::string> device = {};  // of failures
    std::optional<size_t> pool = {};  // of a map: which one's blocks; absent: of the one with the most in it
    uint32_t id = 0;                  // of a post-mortem: its pid; of the past and of cores: the device
    uint64_t since = 0;               // of the past: ns since the epoch
    uint64_t limit = 0;

    // Two questions with the same key are the same.
    std::string key() const;
};

// Which of the pools of a map is meant: that one, or the one with the most in it.
size_t chosen_pool(const std::vector<census::AddressMap>& maps, std::optional<size_t> wanted);

// What a device did before anybody looked, and what did not work lately.
struct Past {
    view::HistoryView history;
    view::WhyView why;
    view::PostMortemListView post_mortems;
};

struct Answer {
    std::string key;  // of the question
    std::variant<std::monostate, view::AllocationView, view::GroupView, view::MapView, view::CoreView,
                 view::EventsView, view::WhyView, view::PostMortemListView, view::PostMortemView, Past>
        view;
    std::string problem;  // why there is none
};

}  // namespace ttmem::tui
