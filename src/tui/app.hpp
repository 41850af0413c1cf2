// SPDX-License-Identifier: Apache-2.0
#pragma once

// The dashboard: waits for keys, news and time, and redraws.

#include <functional>

#include "access/access.hpp"
#include "base/error.hpp"
#include "tui/ui.hpp"

namespace ttmem::tui {

struct Options {
    access::Way way = access::Way::daemon_if_there;
    std::optional<uint64_t> interval_ms;  // else as it was saved
    std::optional<Screen> screen;
    std::optional<uint32_t> device;
};

// Until the user has enough. An error where there is no terminal; else the exit code.
base::Expected<int> run(const Options& options);

}  // namespace ttmem::tui
