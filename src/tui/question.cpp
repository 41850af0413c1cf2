// SPDX-License-Identifier: Apache-2.0
#include "tui/question.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ttmem::tui {

namespace {

template <class T>
std::string text_of(const std::optional<T>& value) {
    if constexpr (std::is_enum_v<T>) {
        return value ? std::to_string(static_cast<int>(*value)) : "-";
    } else {
        return value ? fmt::format("{}", *value) : "-";
    }
}

}  // namespace

size_t chosen_pool(const std::vector<census::AddressMap>& maps, std::optional<size_t> wanted) {
    const auto fullest = std::max_element(
        maps.begin(), maps.end(),
        [](const census::AddressMap& a, const census::AddressMap& b) { return a.used < b.used; });
    return wanted ? *wanted % maps.size() : static_cast<size_t>(fullest - maps.begin());
}

std::string Question::key() const {
    const census::AllocationQuery& q = allocations;
    switch (about) {
        case About::nothing:
            return "";
        case About::allocations:
        case About::groups:
            return fmt::format("allocations {} {} {} {} {} {} {} {} {} '{}'", static_cast<int>(about),
                               text_of(q.device), text_of(q.pid), text_of(q.kind), text_of(q.since),
                               static_cast<int>(q.sort), q.limit, text_of(q.group), q.scope_depth, q.name);
        case About::map:
            return fmt::format("map {} {} {}", map.device, map.limit, text_of(pool));
        case About::cores:
            return fmt::format("cores {}", id);
        case About::events:
            return "events";
        case About::failures:
            return fmt::format("failures {} {}", text_of(device), limit);
        case About::post_mortems:
            return "post-mortems";
        case About::post_mortem:
            return fmt::format("post-mortem {}", id);
        case About::past:
            return fmt::format("past {}", id);
    }
    return "";
}

}  // namespace ttmem::tui
