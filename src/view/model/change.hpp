// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a daemon sends after the whole view: the entries that are new or different, and what is gone.

#include <optional>
#include <vector>

#include "view/questions/status.hpp"

namespace ttmem::view {

struct ViewChange {
    std::optional<std::vector<census::Inexactness>> inexact;  // absent: as before
    std::optional<std::vector<census::MeshFigures>> meshes;   // the same
    std::vector<census::DeviceFigures> devices;
    std::vector<census::ProcessFigures> processes;
    std::vector<uint32_t> gone_devices;    // by id
    std::vector<uint32_t> gone_processes;  // by pid
    std::optional<uint64_t> processes_missed = {};

    bool operator==(const ViewChange&) const = default;
};

// Brings a view from the state before a change to the one after it. The time of the view is not part of a change.
void apply(ViewChange change, View& view);

extern template struct JsonForm<ViewChange>;

}  // namespace ttmem::view
