// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

// For tests: ttmem-sim in a separate process, paused at each step, with its own figures at that step.
namespace ttmem::sim::testing {

class PausedScenario {
public:
    // Starts `program` with these arguments and --pause-at all. Variables are added to its environment as NAME=VALUE.
    PausedScenario(const std::string& program, const std::vector<std::string>& arguments,
                   const std::vector<std::string>& variables = {});
    ~PausedScenario();
    PausedScenario(const PausedScenario&) = delete;
    PausedScenario& operator=(const PausedScenario&) = delete;

    pid_t pid() const { return pid_; }

    // Continues to the next step and waits for it. Empty if the scenario has ended.
    std::optional<std::string> next_step();

    // The runtime's own figures at the current step.
    const nlohmann::json& truth() const { return truth_; }

    // The status from waitpid(), after next_step() returned empty.
    int status() const { return status_; }

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
