// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the kernel driver says about the devices in this host, whoever uses them and whether anybody does. It knows the chips
// that are on the PCIe bus: the remote chips behind them are not here. What it does not say is absent, and never 0.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "census/process.hpp"

namespace ttmem::census {

struct Telemetry {
    std::optional<double> temperature_c;
    std::optional<double> temperature_max_c;
    std::optional<double> power_w;
    std::optional<double> power_max_w;
    std::optional<double> current_a;
    std::optional<double> current_max_a;
    std::optional<double> voltage_v;
    std::optional<double> voltage_max_v;
    std::optional<uint32_t> aiclk_mhz;
    std::optional<uint32_t> axiclk_mhz;
    std::optional<uint32_t> arcclk_mhz;
    std::optional<uint32_t> fan_rpm;
    std::optional<uint64_t> thermal_trips;
    std::optional<bool> is_alive;  // the firmware's heart beat between two looks; absent: seen once so far

    bool operator==(const Telemetry&) const = default;
};

// As the link runs, and as it could.
struct PcieLink {
    std::optional<std::string> speed;  // "16.0 GT/s PCIe"
    std::optional<std::string> max_speed;
    std::optional<uint32_t> width;
    std::optional<uint32_t> max_width;

    bool operator==(const PcieLink&) const = default;
};

// What a device on the bus is.
struct DriverFacts {
    std::optional<std::string> bdf;
    std::optional<int32_t> numa_node;
    std::optional<std::string> serial;
    std::optional<std::string> firmware;
    PcieLink link;

    bool operator==(const DriverFacts&) const = default;
};

struct DriverDevice {
    uint32_t id = 0;  // N of /dev/tenstorrent/N
    std::optional<uint64_t> asic_id;
    std::optional<std::string> arch;   // "wormhole_b0", "blackhole"
    std::optional<std::string> board;  // the card type: "n300", "p150a"
    DriverFacts facts;
    Telemetry telemetry;

    bool operator==(const DriverDevice&) const = default;
};

// A process that has devices open, whether it reports what it holds or not.
struct Holder {
    Identity identity;
    std::vector<uint32_t> devices;  // by number of /dev/tenstorrent, in order, each once
};

struct Driver {
    std::vector<DriverDevice> devices;  // by id
    std::vector<Holder> holders;        // by pid
};

}  // namespace ttmem::census
