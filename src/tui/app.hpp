// SPDX-License-Identifier: Apache-2.0
#pragma once

// The dashboard: waits for keys, updates and the next redraw.

#include <memory>
#include <optional>
#include <string>

#include "access/access.hpp"
#include "access/recording_player.hpp"
#include "base/error.hpp"
#include "tui/ui.hpp"

namespace ttmem::tui {

struct DashboardOptions {
    access::ReadMode mode = access::ReadMode::daemon_first;
    // Absent: the saved value.
    std::optional<uint64_t> interval_ms;
    std::optional<Screen> screen;
    std::optional<uint32_t> device;
    std::string page;    // the address of the page, shown until the first key and in the help
    bool plays = false;  // a recording, from the start; else it is paused
};

// Runs until the user quits and returns the exit code. Fails without a terminal. With a player it shows that recording.
base::Expected<int> run(const DashboardOptions& options,
                        std::unique_ptr<access::RecordingPlayer> player = nullptr);

}  // namespace ttmem::tui
