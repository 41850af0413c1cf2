// SPDX-License-Identifier: Apache-2.0
#include "tui/screen_query.hpp"

#include <algorithm>
#include <cassert>

namespace ttmem::tui {

size_t chosen_pool(const std::vector<census::AddressMap>& maps, std::optional<size_t> wanted,
                   const std::optional<MapTarget>& target) {
    assert(!maps.empty());
    const auto with_target = std::find_if(maps.begin(), maps.end(), [&](const census::AddressMap& map) {
        return target && map.pid == target->pid && map.kind == target->kind &&
               (!target->set || map.set == *target->set);
    });
    if (!wanted && with_target != maps.end()) {
        return static_cast<size_t>(with_target - maps.begin());
    }
    const auto fullest = std::max_element(
        maps.begin(), maps.end(),
        [](const census::AddressMap& a, const census::AddressMap& b) { return a.used < b.used; });
    return wanted ? *wanted % maps.size() : static_cast<size_t>(fullest - maps.begin());
}

}  // namespace ttmem::tui
