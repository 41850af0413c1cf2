// SPDX-License-Identifier: Apache-2.0
#pragma once

// The dashboard: waits for keys, updates and the next redraw.

#include <functional>
#include <string>

#include "access/access.hpp"
#include "base/error.hpp"
#include "tui/ui.hpp"

namespace ttmem::tui {

struct DashboardOptions {
    access::ReadMode mode = access::ReadMode::daemon_first;
    // Absent: the saved value.
    std::optional<uint64_t> interval_ms;
    std::optional<Screen> screen;
    std::optional<uint32_t> device;
    std::string message;  // shown until the first key
};

// Runs until the user quits and returns the exit code. Fails without a terminal.
base::Expected<int> run(const DashboardOptions& options);

}  // namespace ttmem::tui
