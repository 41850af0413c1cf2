// SPDX-License-Identifier: Apache-2.0
#pragma once

// Starts a command with tracking, and reports on it after its end. Needs no daemon. If a daemon runs, it tracks the
// command too.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "census/census.hpp"
#include "view/model/run.hpp"
#include "view/model/run_gates.hpp"

namespace ttmem::access {

struct RunSettings {
    std::vector<std::string> command;
    std::optional<std::string> observer;  // the library to preload
    bool names = false;                   // the runtime names what it allocates for caches and traces
    std::vector<view::PeakLimit> limits;
    bool headroom = false;  // watch the least headroom
    // Called repeatedly with the processes so far, and once after the end of the command. Returns the milliseconds until the
    // next call.
    std::function<int(const census::Census&)> watch = nullptr;
};

struct RunEnd {
    int start_error = 0;  // an errno: the command could not be started, and there is no view
    view::RunView view;
};

// Signals to this process are forwarded to the command, unless the terminal has already sent them to it.
base::Expected<RunEnd> run(const RunSettings& settings);

}  // namespace ttmem::access
