// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

// For tests: ttmem-sim in a process of its own, stopped at each step, with what it says of its memory there.
namespace ttmem::sim::testing {

class PausedScenario {
public:
    // Starts `program` with these arguments and --pause-at all. Variables are added to its environment as NAME=VALUE.
    PausedScenario(const std::string& program, const std::vector<std::string>& arguments,
                   const std::vector<std::string>& variables = {});
    ~PausedScenario();
    PausedScenario(const PausedScenario&) = delete;
    PausedScenario& operator=(const PausedScenario&) = delete;

    [[nodiscard]] pid_t pid() const { return pid_; }

    // Lets it go on to its next step, and waits for that. Nothing where the scenario has ended.
    std::optional<std::string> next_step();

    // The runtime's own word at the present step.
    [[nodiscard]] const nlohmann::json& truth() const { return truth_; }

    // How it ended, once next_step() has given nothing: as waitpid() says it.
    [[nodiscard]] int status() const { return status_; }

private:
    void read_truth();

    pid_t pid_ = -1;
    int status_ = 0;
    bool started_ = false;
    FILE* output_ = nullptr;
    int input_ = -1;
    std::string truth_path_;
    std::FILE* truth_file_ = nullptr;
    nlohmann::json truth_;
};

}  // namespace ttmem::sim::testing
