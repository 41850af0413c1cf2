// SPDX-License-Identifier: Apache-2.0
#include "history/samples.hpp"

#include <algorithm>

namespace ttmem::history {

void Samples::add(uint64_t time_ns, const census::Figures& figures) {
    std::map<Key, uint64_t> values;
    for (const census::DeviceFigures& device : figures.devices) {
        for (size_t kind = 0; kind < census::kDeviceKinds; ++kind) {
            values[{device.id, static_cast<census::Kind>(kind)}] = device.memory[kind].used;
        }
    }
    for (const auto& [key, value] : values) {
        if (value != 0 && series_.size() < kMostSeries) {
            series_.try_emplace(key);
        }
    }
    for (auto& [key, series] : series_) {
        const auto value = values.find(key);
        series.add({time_ns, value == values.end() ? 0 : value->second});
    }
}

std::vector<Samples::Key> Samples::keys() const {
    std::vector<Key> keys;
    for (const auto& [key, series] : series_) {
        keys.push_back(key);
    }
    return keys;
}

std::vector<Sample> Samples::since(const Key& key, uint64_t time_ns) const {
    const auto found = series_.find(key);
    return found == series_.end() ? std::vector<Sample>() : found->second.since(time_ns);
}

void SeenPeaks::see(const census::Figures& figures) {
    std::map<uint32_t, OfDevice> still_held;
    for (const census::ProcessFigures& process : figures.processes) {
        for (const census::HeldOnDevice& held : process.devices) {
            still_held.try_emplace(held.id, OfDevice{});
        }
    }
    for (const census::DeviceFigures& device : figures.devices) {
        const auto held = still_held.find(device.id);
        if (held == still_held.end()) {
            continue;
        }
        const auto before = peaks_.find(device.id);
        for (size_t kind = 0; kind < census::kDeviceKinds; ++kind) {
            held->second[kind] =
                std::max(before == peaks_.end() ? 0 : before->second[kind], device.memory[kind].used);
        }
    }
    peaks_ = std::move(still_held);
}

void SeenPeaks::raise(census::Figures& figures) const {
    for (census::DeviceFigures& device : figures.devices) {
        const auto seen = peaks_.find(device.id);
        for (size_t kind = 0; seen != peaks_.end() && kind < census::kDeviceKinds; ++kind) {
            census::MemoryFigures& memory = device.memory[kind];
            memory.peak = memory.peak_exact ? memory.peak : std::max(memory.peak, seen->second[kind]);
        }
    }
}

}  // namespace ttmem::history
