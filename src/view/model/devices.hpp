// SPDX-License-Identifier: Apache-2.0
#pragma once

// A device by any of the names that people have for it.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "view/questions/status.hpp"

namespace ttmem::view {

// Its number, /dev/tenstorrent/N, its place on the bus, or its ASIC id (0x...).
const census::DeviceFigures* find_device(const View& view, std::string_view name);

// The device with this id, or null.
const census::DeviceFigures* device_with_id(const View& view, uint32_t id);

// A described mesh of exactly the devices of the view, or null.
const census::MeshFigures* mesh_of_all_devices(const View& view);

// What is said where there is none.
std::string no_such_device(std::string_view name);

// Removes processes, and the reasons for inexact figures that are theirs.
template <class IsUnwanted>
void drop_processes(std::vector<census::ProcessFigures>& processes, std::vector<census::Inexactness>& inexact,
                    const IsUnwanted& is_unwanted) {
    for (const census::ProcessFigures& process : processes) {
        if (is_unwanted(process)) {
            std::erase_if(inexact, [&](const auto& reason) { return reason.pid == process.pid; });
        }
    }
    std::erase_if(processes, is_unwanted);
}

// Leaves of a view what is on these devices, and of each process what it holds there. A text that says why not, where one of them
// does not exist.
std::optional<std::string> keep_devices(View& view, const std::vector<std::string>& names);

}  // namespace ttmem::view
