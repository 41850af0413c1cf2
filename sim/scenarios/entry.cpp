// SPDX-License-Identifier: Apache-2.0
//
// ttmem-sim as a library, so that another process, for example a Python interpreter, can run a scenario.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "sim/metal/options.hpp"
#include "sim/scenarios/command_line.hpp"
#include "sim/scenarios/entry.h"
#include "sim/scenarios/replay_metal.hpp"
#include "sim/scenarios/truth_file.hpp"

namespace ttmem::sim {
namespace {

int list(bool as_json) {
    nlohmann::ordered_json all = nlohmann::ordered_json::array();
    for (const Scenario& scenario : scenarios()) {
        all.push_back({{"name", scenario.name},
                       {"board", scenario.board},
                       {"devices", scenario.devices},
                       {"summary", scenario.summary}});
        if (!as_json) {
            fmt::print("{:<24}{}\n", scenario.name, scenario.summary);
        }
    }
    if (as_json) {
        fmt::print("{}\n", all.dump(2));
    }
    return 0;
}

int perform_replay(const std::string& path) {
    std::ifstream log(path);
    if (!log) {
        fmt::print(stderr, "ttmem-sim: can't read the log {}\n", path);
        return 2;
    }
    const auto result = replay(log, open_metal_target);
    if (!result) {
        fmt::print(stderr, "ttmem-sim: {}: {}\n", path, result.error());
        return 2;
    }
    if (result->difference) {
        fmt::print(stderr, "ttmem-sim: {}: {}\n", path, *result->difference);
        return 1;
    }
    fmt::print(
        "{}: 0 differences in {} lines ({} allocations, {} of them refused, {} frees, {} statistics)\n", path,
        result->lines, result->allocations, result->failures, result->frees, result->statistics);
    return 0;
}

int run_scenario(const CommandLine& line) {
    MetalOptions options = metal_options_from_environment();
    options.board = line.settings.board;
    options.system = options.system || line.scenario->system;
    options.kernel_binaries = options.kernel_binaries || line.scenario->kernel_binaries;
    set_metal_options(options);

    const auto truth = line.truth ? std::make_unique<TruthFile>(*line.truth) : nullptr;
    bool paused = false;
    for (uint32_t round = 0; round < line.repeat; ++round) {
        Run run(line.settings, truth.get());
        line.scenario->run(run);
        paused = paused || run.paused();
    }
    if (line.settings.pause_at && !paused) {
        throw UsageError(
            fmt::format("{} has no step '{}' to pause at", line.scenario->name, *line.settings.pause_at));
    }
    return 0;
}

int run(int argc, char** argv) {
    const CommandLine line = parse_command_line(argc, argv);
    switch (line.action) {
        case CommandLine::Action::list:
            return list(line.json);
        case CommandLine::Action::replay:
            return perform_replay(line.log);
        case CommandLine::Action::help:
            fmt::print("{}", line.help);
            return 0;
        case CommandLine::Action::scenario:
            break;
    }
    return run_scenario(line);
}

}  // namespace
}  // namespace ttmem::sim

int ttmem_sim_main(int argc, char** argv) {
    // Its purpose is to be tracked, so tracking is on unless the variable is 0.
    setenv("TT_ALLOC_TRACKING_ENABLED", "1", 0);
    try {
        return ttmem::sim::run(argc, argv);
    } catch (const ttmem::sim::UsageError& error) {
        fmt::print(stderr, "ttmem-sim: {}\n", error.what());
        return 2;
    } catch (const std::exception& error) {
        fmt::print(stderr, "ttmem-sim: {}\n", error.what());
        return 1;
    }
}
