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

// A command line that can't be carried out: one line for the user, exit code 2.
class UsageError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

struct CommandLine {
    enum class Action { kScenario, kList, kReplay, kHelp };

    Action action = Action::kScenario;
    const Scenario* scenario = nullptr;
    RunSettings settings;
    std::uint32_t repeat = 1;
    std::optional<std::string> truth;
    bool json = false;
    std::string log;
    std::string help;
};

// Throws UsageError.
[[nodiscard]] CommandLine parse_command_line(int argc, char** argv);

// `4` is how many chips, in the order of the board's mesh; `2,3` is which. `2,` is chip 2 alone.
[[nodiscard]] std::vector<int> parse_devices(const std::string& text, const Board& board);

}  // namespace ttmem::sim
