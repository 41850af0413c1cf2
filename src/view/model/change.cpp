// SPDX-License-Identifier: Apache-2.0
#include "view/model/change.hpp"

#include <algorithm>

#include "view/json/json_document.hpp"

namespace ttmem::view {

void fields(auto& io, Like<ViewChange> auto& change) {
    io.derived("schema", kSchema, "version of the format");
    if (change.inexact) {
        io.derived("exact", change.inexact->empty(), "nothing is missing and nothing is in doubt");
    }
    io.if_present("inexact", change.inexact, "why the view is not exact; absent: as before");
    io.if_present("meshes", change.meshes, "all described meshes; absent: as before");
    io("devices", change.devices, "devices that are new or different, whole");
    io("processes", change.processes, "processes that are new or different, whole");
    io("gone_devices", change.gone_devices, "ids of devices that are gone");
    io("gone_processes", change.gone_processes, "pids of processes that are gone");
    io("processes_missed", change.processes_missed, kMissedMeaning);
}

template struct JsonForm<ViewChange>;

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
    view.figures.processes_missed = change.processes_missed;
    if (change.inexact) {
        view.figures.inexact = std::move(*change.inexact);
    }
    if (change.meshes) {
        view.figures.meshes = std::move(*change.meshes);
    }
}

}  // namespace ttmem::view
