// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a daemon sends after the whole view: the entries that are new or different, and what is gone.

#include <optional>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "view/view.hpp"

namespace ttmem::view {

struct ViewChange {
    std::optional<std::vector<census::Inexactness>> inexact;  // absent: as before
    std::vector<census::DeviceFigures> devices;
    std::vector<census::ProcessFigures> processes;
    std::vector<uint32_t> gone_devices;    // by id
    std::vector<uint32_t> gone_processes;  // by pid

    bool operator==(const ViewChange&) const = default;
};

base::Expected<ViewChange> change_from_json(std::string_view text);

// Brings a view from the state before a change to the one after it. Its time is not in a change, and stays.
void apply(ViewChange change, View& view);

}  // namespace ttmem::view
