// SPDX-License-Identifier: Apache-2.0
#include "view/change.hpp"

#include <algorithm>

namespace ttmem::view {

namespace {

// Entries stay in the order of their keys.
template <class Entry>
void replace(std::vector<Entry>& entries, std::vector<Entry> changed, const std::vector<uint32_t>& gone,
             uint32_t Entry::*key) {
    std::erase_if(entries, [&](const Entry& entry) {
        return std::find(gone.begin(), gone.end(), entry.*key) != gone.end();
    });
    for (Entry& entry : changed) {
        const auto place =
            std::lower_bound(entries.begin(), entries.end(), entry.*key,
                             [&](const Entry& one, uint32_t wanted) { return one.*key < wanted; });
        if (place != entries.end() && (*place).*key == entry.*key) {
            *place = std::move(entry);
        } else {
            entries.insert(place, std::move(entry));
        }
    }
}

}  // namespace

void apply(ViewChange change, View& view) {
    replace(view.figures.devices, std::move(change.devices), change.gone_devices, &census::DeviceFigures::id);
    replace(view.figures.processes, std::move(change.processes), change.gone_processes,
            &census::ProcessFigures::pid);
    if (change.inexact) {
        view.figures.inexact = std::move(*change.inexact);
    }
}

}  // namespace ttmem::view
