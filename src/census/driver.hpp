// SPDX-License-Identifier: Apache-2.0
#pragma once

// The kernel driver's data about the devices of this host, in use or not. It covers chips on the PCIe bus, not the
// remote chips behind them. Unreported values are absent, never 0.

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
    // The firmware's heartbeat advanced between two polls; absent: polled only once so far.
    std::optional<bool> is_alive;

    bool operator==(const Telemetry&) const = default;
};

// The current and the maximum state of the link.
struct PcieLink {
    std::optional<std::string> speed;  // "16.0 GT/s PCIe"
    std::optional<std::string> max_speed;
    std::optional<uint32_t> width;
    std::optional<uint32_t> max_width;

    bool operator==(const PcieLink&) const = default;
};

// Static properties of a device on the bus.
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

// A process that has devices open, whether or not it reports allocations.
struct Holder {
    Identity identity;
    std::vector<uint32_t> devices;  // numbers of /dev/tenstorrent, ascending, unique
};

struct Driver {
    std::vector<DriverDevice> devices;  // by id
    std::vector<Holder> holders;        // by pid
    // The driver lists the holders of every device. Else they come from the processes that this user may read.
    bool lists_holders = false;
    // Processes in the driver's lists that this process can't see, such as those of another pid namespace.
    uint64_t unseen_holders = 0;
};

}  // namespace ttmem::census
