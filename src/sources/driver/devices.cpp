// SPDX-License-Identifier: Apache-2.0
#include "sources/driver/devices.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/text.hpp"
#include "sources/driver/files.hpp"

namespace ttmem::sources::driver {

namespace {

constexpr std::string_view kPrefix = "tenstorrent!";
constexpr uint64_t kVendor = 0x1e52;
constexpr uint64_t kWormhole = 0x401e;
constexpr uint64_t kBlackhole = 0xb140;

// A device that fell off the bus or is being reset answers each read with all ones. The driver may scale the value and
// truncate it to 32 bits. No chip reaches these bounds, so a value beyond them is treated as absent.
constexpr double kMostDegrees = 300;
constexpr double kLeastDegrees = -100;
constexpr double kMostVolts = 20;
constexpr double kMostAmperes = 10'000;
constexpr double kMostWatts = 4'000;
constexpr uint32_t kMostMegahertz = 100'000;
constexpr uint32_t kMostRpm = 100'000;
constexpr uint32_t kMostTrips = 0xfffffffe;
constexpr uint32_t kMostLanes = 32;
constexpr int32_t kMostNodes = 65'535;

std::optional<uint32_t> id_of(std::string_view name) {
    if (!name.starts_with(kPrefix)) {
        return std::nullopt;
    }
    name.remove_prefix(kPrefix.size());
    // Each device has one name: leading zeros are rejected.
    const bool is_written_otherwise = name.size() > 1 && name[0] == '0';
    return is_written_otherwise ? std::nullopt : parse_number<uint32_t>(name);
}

// A PCI address like "0000:01:00.0". The domain has more digits behind some bridges.
bool is_bdf(std::string_view text) {
    if (text.size() < 12 || text.size() > 16) {
        return false;
    }
    const size_t domain = text.size() - 8;
    for (size_t i = 0; i < text.size(); ++i) {
        const bool is_mark = i == domain || i == domain + 3 || i == domain + 6;
        const char mark = i == domain + 6 ? '.' : ':';
        if (is_mark ? text[i] != mark : !parse_hex(text.substr(i, 1))) {
            return false;
        }
    }
    return true;
}

std::optional<std::string> arch_of(const Folder& pci) {
    if (read_hex(pci, "vendor") != kVendor) {
        return std::nullopt;
    }
    const auto device = read_hex(pci, "device");
    return device == kWormhole    ? std::optional<std::string>("wormhole_b0")
           : device == kBlackhole ? std::optional<std::string>("blackhole")
                                  : std::nullopt;
}

// The driver writes ids as hex digits. All zeros or all ones mean that the firmware has no id or does not answer.
std::optional<uint64_t> parse_id(std::string_view text) {
    const auto value = parse_hex(text);
    return value && *value != 0 && *value != UINT64_MAX ? value : std::nullopt;
}

std::optional<uint64_t> read_asic_id(const Folder& folder) {
    const auto word = read_word(folder, "tt_asic_id");
    return word ? parse_id(*word) : std::nullopt;
}

std::optional<std::string> read_serial(const Folder& folder) {
    auto word = read_word(folder, "tt_serial");
    return word && parse_id(*word) ? word : std::nullopt;
}

std::optional<std::string> read_version(const Folder& folder, const std::string& name) {
    auto word = read_word(folder, name);
    const bool is_none =
        !word || word->find_first_not_of("0.") == std::string::npos || *word == "255.255.255.255";
    const bool is_version = !is_none && word->front() >= '0' && word->front() <= '9';
    return is_version ? word : std::nullopt;
}

std::optional<std::string> read_board(const Folder& folder) {
    auto word = read_word(folder, "tt_card_type");
    return word != "unknown" ? word : std::nullopt;
}

// "16.0 GT/s PCIe", or "Unknown".
std::optional<std::string> read_speed(const Folder& pci, const std::string& name) {
    constexpr size_t kMostOfASpeed = 64;
    const auto line = read_line(pci, name);
    const bool is_speed = line && line->front() >= '0' && line->front() <= '9';
    return is_speed ? std::optional(base::printable(line->substr(0, kMostOfASpeed))) : std::nullopt;
}

census::PcieLink read_link(const Folder& pci) {
    return {read_speed(pci, "current_link_speed"), read_speed(pci, "max_link_speed"),
            read_number<uint32_t>(pci, "current_link_width", 1, kMostLanes),
            read_number<uint32_t>(pci, "max_link_width", 1, kMostLanes)};
}

// Sensors report thousandths or millionths of the unit.
std::optional<double> read_sensor(const Folder& sensors, const std::string& name, double parts, double least,
                                  double most) {
    const auto value = read_number<int64_t>(sensors, name);
    const double result = static_cast<double>(value.value_or(0)) / parts;
    return value && result >= least && result <= most ? std::optional(result) : std::nullopt;
}

void read_sensors(const Folder& sensors, census::Telemetry& telemetry) {
    constexpr double kMilli = 1'000;
    constexpr double kMicro = 1'000'000;
    telemetry.temperature_c = read_sensor(sensors, "temp1_input", kMilli, kLeastDegrees, kMostDegrees);
    telemetry.temperature_max_c = read_sensor(sensors, "temp1_max", kMilli, kLeastDegrees, kMostDegrees);
    telemetry.voltage_v = read_sensor(sensors, "in0_input", kMilli, 0, kMostVolts);
    telemetry.voltage_max_v = read_sensor(sensors, "in0_max", kMilli, 0, kMostVolts);
    telemetry.current_a = read_sensor(sensors, "curr1_input", kMilli, 0, kMostAmperes);
    telemetry.current_max_a = read_sensor(sensors, "curr1_max", kMilli, 0, kMostAmperes);
    telemetry.power_w = read_sensor(sensors, "power1_input", kMicro, 0, kMostWatts);
    telemetry.power_max_w = read_sensor(sensors, "power1_max", kMicro, 0, kMostWatts);
    telemetry.fan_rpm = read_number<uint32_t>(sensors, "fan1_input", 0, kMostRpm);
}

// Finds the sensors below the PCI device, or else among all sensors of the host by their link back to the device.
std::optional<Folder> find_sensors(const Folder& pci, const std::string& sys) {
    const auto own = pci.below("hwmon");
    for (const std::string& name : own ? own->names() : std::vector<std::string>()) {
        if (auto sensors = name.starts_with("hwmon") ? own->below(name) : std::nullopt) {
            return sensors;
        }
    }
    const auto all = Folder::open(sys + "/class/hwmon");
    for (const std::string& name : all ? all->names() : std::vector<std::string>()) {
        auto sensors = name.starts_with("hwmon") ? all->below(name) : std::nullopt;
        const auto chip = sensors ? read_word(*sensors, "name") : std::nullopt;
        const auto device =
            chip == "wormhole" || chip == "blackhole" ? sensors->below("device") : std::nullopt;
        if (device && device->is_same(pci)) {
            return sensors;
        }
    }
    return std::nullopt;
}

void read_attributes(const Folder& folder, DeviceReading& reading) {
    census::DriverDevice& device = reading.device;
    device.asic_id = read_asic_id(folder);
    device.board = read_board(folder);
    device.facts.serial = read_serial(folder);
    device.facts.firmware = read_version(folder, "tt_fw_bundle_ver");
    device.telemetry.aiclk_mhz = read_number<uint32_t>(folder, "tt_aiclk", 0, kMostMegahertz);
    device.telemetry.axiclk_mhz = read_number<uint32_t>(folder, "tt_axiclk", 0, kMostMegahertz);
    device.telemetry.arcclk_mhz = read_number<uint32_t>(folder, "tt_arcclk", 0, kMostMegahertz);
    device.telemetry.thermal_trips = read_number<uint32_t>(folder, "tt_therm_trip_count", 0, kMostTrips);
    reading.heartbeat = read_number<uint32_t>(folder, "tt_heartbeat");
}

void read_pci(const Folder& pci, const std::string& sys, census::DriverDevice& device) {
    const std::string name = pci.own_name();
    device.facts.bdf = is_bdf(name) ? std::optional(name) : std::nullopt;
    device.facts.numa_node = read_number<int32_t>(pci, "numa_node", 0, kMostNodes);
    device.facts.link = read_link(pci);
    device.arch = arch_of(pci);
    if (const auto sensors = find_sensors(pci, sys)) {
        read_sensors(*sensors, device.telemetry);
    }
}

}  // namespace

std::optional<std::vector<DeviceReading>> read_devices(const std::string& sys) {
    const auto devices = Folder::open(sys + "/class/tenstorrent");
    if (!devices) {
        return std::nullopt;
    }
    std::vector<DeviceReading> readings;
    for (const std::string& name : devices->names()) {
        const auto id = id_of(name);
        const auto folder = id ? devices->below(name) : std::nullopt;
        if (!folder) {
            continue;
        }
        DeviceReading reading;
        reading.device.id = *id;
        read_attributes(*folder, reading);
        if (const auto pci = folder->below("device")) {
            read_pci(*pci, sys, reading.device);
        }
        readings.push_back(std::move(reading));
    }
    std::sort(readings.begin(), readings.end(),
              [](const DeviceReading& a, const DeviceReading& b) { return a.device.id < b.device.id; });
    return readings;
}

}  // namespace ttmem::sources::driver
