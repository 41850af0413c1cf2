// SPDX-License-Identifier: Apache-2.0
#include "sim/scenarios/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <iostream>

namespace ttmem::sim {
namespace {

std::string readable(uint64_t bytes) {
    constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB"};
    auto value = static_cast<double>(bytes);
    size_t unit = 0;
    while (value >= 1024 && unit + 1 < std::size(kUnits)) {
        value /= 1024;
        ++unit;
    }
    return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", value, kUnits[unit]);
}

// The first device represents all. The truth file has the differences.
void print_step(std::string_view name, const std::vector<DeviceTruth>& devices) {
    std::string line = fmt::format("{:<28}", name);
    for (const char* kind : {"dram", "l1", "trace", "cb", "kernel"}) {
        line += fmt::format(" {} {:<10}", kind, readable(devices.front().memory.at(kind).used));
    }
    fmt::print("{}\n", line.substr(0, line.find_last_not_of(' ') + 1));
    std::fflush(stdout);
}

}  // namespace

Run::Run(const RunSettings& settings, TruthFile* truth)
    : settings_(settings), truth_(truth), random_(settings.seed) {}

std::shared_ptr<tt::tt_metal::distributed::MeshDevice> Run::open_mesh(const RegionSizes& regions) const {
    using namespace tt::tt_metal::distributed;
    std::vector<int> all = chips();
    std::ranges::sort(all);
    const bool whole_board = all.size() == board().chips;
    const MeshDeviceConfig config =
        whole_board
            ? MeshDeviceConfig(MeshShape(board().mesh_rows, board().mesh_cols))
            : MeshDeviceConfig(MeshShape(1, static_cast<uint32_t>(chips().size())), std::nullopt, chips());
    return MeshDevice::create(config, regions.l1_small, regions.trace);
}

void Run::step(std::string_view name) {
    const std::vector<DeviceTruth> devices = device_truth(chips(), settings_.blocks);
    if (truth_ != nullptr) {
        truth_->write(name, devices);
    }
    print_step(name, devices);
    if (settings_.pause_at && (*settings_.pause_at == "all" || *settings_.pause_at == name)) {
        pause(name);
    }
}

void Run::pause(std::string_view name) {
    paused_ = true;
    fmt::print("paused: {}\n", name);
    std::fflush(stdout);
    std::string line;
    std::getline(std::cin, line);  // end of input: do not wait
}

}  // namespace ttmem::sim
