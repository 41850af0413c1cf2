// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "sim/geometry.hpp"
#include "sim/scenarios/run.hpp"
#include "sim/scenarios/scenario.hpp"

namespace ttmem::sim {

// An invalid command line: one line for the user, exit code 2.
class UsageError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

struct CommandLine {
    enum class Action : uint8_t { scenario, list, replay, help };

    Action action = Action::scenario;
    const Scenario* scenario = nullptr;
    RunSettings settings;
    uint32_t repeat = 1;
    std::optional<std::string> truth;
    bool json = false;
    std::string log;
    std::string help;
};

// Throws UsageError.
CommandLine parse_command_line(int argc, char** argv);

// `4` is a number of chips, in the order of the board's mesh; `2,3` is a list of chips; `2,` is chip 2 alone.
std::vector<int> parse_devices(const std::string& text, const Board& board);

}  // namespace ttmem::sim
