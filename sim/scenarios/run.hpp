// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <tt-metalium/mesh_device.hpp>

#include "sim/geometry.hpp"
#include "sim/scenarios/truth_file.hpp"

namespace ttmem::sim {

// Options of the scenario `churn`.
struct ChurnSettings {
    uint32_t threads = 2;
    uint32_t live = 1000;  // allocations, on each thread
    uint64_t rate = 0;     // events per second and thread; 0: as fast as possible
    double seconds = 2;
};

struct RunSettings {
    const Board* board = nullptr;
    std::vector<int> chips;
    std::optional<std::string> pause_at;  // a step, or "all"
    bool blocks = false;                  // the truth holds the allocators' block tables too
    uint64_t seed = 1;
    ChurnSettings churn;
};

// One run of a scenario: the devices it was given, and its steps.
class Run {
public:
    Run(const RunSettings& settings, TruthFile* truth);

    const Board& board() const { return *settings_.board; }
    const std::vector<int>& chips() const { return settings_.chips; }
    const ChurnSettings& churn() const { return settings_.churn; }
    std::mt19937_64& random() { return random_; }

    // All chips of this run as one mesh: the board's own mesh if it has exactly these chips, else a line.
    std::shared_ptr<tt::tt_metal::distributed::MeshDevice> open_mesh(const RegionSizes& regions = {}) const;

    // Nothing changes during a step: it writes the truth, prints the step's name, and pauses if requested.
    void step(std::string_view name);

    // Whether the step to pause at was reached.
    bool paused() const { return paused_; }

private:
    void pause(std::string_view name);

    const RunSettings& settings_;
    TruthFile* truth_;
    std::mt19937_64 random_;
    bool paused_ = false;
};

}  // namespace ttmem::sim
