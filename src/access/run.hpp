// SPDX-License-Identifier: Apache-2.0
#pragma once

// Starting a command tracked, and what there is to say when it has ended. Needs no daemon; where one runs it sees the
// command too.

#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "view/run.hpp"

namespace ttmem::access {

struct PeakLimit {
    census::Kind kind = census::Kind::dram;
    uint64_t bytes = 0;
};

struct RunSettings {
    std::vector<std::string> command;
    std::optional<std::string> observer;  // the library to preload
    std::vector<PeakLimit> limits;
};

struct RunEnd {
    int start_error = 0;  // an errno: the command could not be started, and there is no view
    view::RunView view;
};

// Signals that this process gets meanwhile go to the command, unless the terminal has sent them there itself.
base::Expected<RunEnd> run(const RunSettings& settings);

}  // namespace ttmem::access
