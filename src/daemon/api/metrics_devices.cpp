// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <optional>

#include "daemon/api/metric_families.hpp"

namespace ttmem::daemon {

using census::DeviceFigures;
using census::MemoryFigures;
using census::Telemetry;

namespace {

// To Prometheus a label without a value is the same as no label.
void add_label(Labels& labels, const char* name, const std::optional<std::string>& value) {
    if (value && !value->empty()) {
        labels.push_back({name, *value});
    }
}

Labels labels_of(const DeviceFigures& device) {
    Labels labels = {{"device", std::to_string(device.id)}};
    if (device.asic_id) {
        labels.push_back({"asic_id", fmt::format("{:#x}", *device.asic_id)});
    }
    add_label(labels, "arch", device.arch);
    add_label(labels, "board", device.board);
    return labels;
}

Labels with(Labels labels, const char* name, std::string_view value) {
    labels.push_back({name, std::string(value)});
    return labels;
}

template <class Figures>
struct Metric {
    const char* name;
    const char* help;
    std::optional<double> (*value)(const Figures&);
};

template <class T>
std::optional<double> number(const std::optional<T>& value) {
    return value ? std::optional(static_cast<double>(*value)) : std::nullopt;
}

std::optional<double> number_if(bool is_known, uint64_t value) {
    return is_known ? std::optional(static_cast<double>(value)) : std::nullopt;
}

constexpr std::array<Metric<MemoryFigures>, 6> kMemory = {{
    {"ttmem_memory_used_bytes", "Bytes that allocators have allocated, rounding included.",
     [](const MemoryFigures& of) { return number_if(of.is_known, of.used); }},
    {"ttmem_memory_requested_bytes", "Bytes that were requested, without rounding.",
     [](const MemoryFigures& of) { return number_if(of.is_known, of.requested); }},
    {"ttmem_memory_capacity_bytes",
     "Bytes that can be allocated. Circular buffers and kernels have no capacity.",
     [](const MemoryFigures& of) { return number(of.capacity); }},
    {"ttmem_memory_peak_bytes", "Highest used bytes; a lower bound if several processes use the device.",
     [](const MemoryFigures& of) { return number_if(of.is_known, of.peak); }},
    {"ttmem_memory_allocations", "Live allocations that add bytes.",
     [](const MemoryFigures& of) { return number_if(of.is_count_known, of.count); }},
    {"ttmem_memory_largest_free_block_bytes",
     "Largest block that is free in every bank; with several address spaces, the smallest such block.",
     [](const MemoryFigures& of) { return number(of.largest_free); }},
}};

constexpr double kHertzPerMegahertz = 1e6;

constexpr std::array<Metric<Telemetry>, 10> kTelemetry = {{
    {"ttmem_device_temperature_celsius", "Temperature of the chip.",
     [](const Telemetry& of) { return of.temperature_c; }},
    {"ttmem_device_temperature_max_celsius", "Temperature limit of the chip.",
     [](const Telemetry& of) { return of.temperature_max_c; }},
    {"ttmem_device_power_watts", "Power that the chip draws.",
     [](const Telemetry& of) { return of.power_w; }},
    {"ttmem_device_power_max_watts", "Power limit of the chip.",
     [](const Telemetry& of) { return of.power_max_w; }},
    {"ttmem_device_current_amperes", "Current of the core supply.",
     [](const Telemetry& of) { return of.current_a; }},
    {"ttmem_device_current_max_amperes", "Current limit of the core supply.",
     [](const Telemetry& of) { return of.current_max_a; }},
    {"ttmem_device_voltage_volts", "Voltage of the core supply.",
     [](const Telemetry& of) { return of.voltage_v; }},
    {"ttmem_device_voltage_max_volts", "Voltage limit of the core supply.",
     [](const Telemetry& of) { return of.voltage_max_v; }},
    {"ttmem_device_fan_rpm", "Revolutions per minute of the board's fan.",
     [](const Telemetry& of) { return number(of.fan_rpm); }},
    {"ttmem_device_alive", "1: the firmware's heartbeat moved between two polls; 0: it did not.",
     [](const Telemetry& of) { return number(of.is_alive); }},
}};

constexpr std::array<Metric<Telemetry>, 3> kClocks = {{
    {"ai", "", [](const Telemetry& of) { return number(of.aiclk_mhz); }},
    {"axi", "", [](const Telemetry& of) { return number(of.axiclk_mhz); }},
    {"arc", "", [](const Telemetry& of) { return number(of.arcclk_mhz); }},
}};

Labels info_labels(const DeviceFigures& device) {
    Labels labels = labels_of(device);
    if (device.driver) {
        add_label(labels, "bdf", device.driver->bdf);
        add_label(labels, "firmware", device.driver->firmware);
        add_label(labels, "serial", device.driver->serial);
        if (device.driver->numa_node) {
            labels.push_back({"numa_node", std::to_string(*device.driver->numa_node)});
        }
    }
    if (device.is_remote) {
        labels.push_back({"remote", *device.is_remote ? "true" : "false"});
    }
    return labels;
}

}  // namespace

void add_memory(Families& families, const std::vector<DeviceFigures>& devices) {
    for (const auto& metric : kMemory) {
        Family& family = families.emplace_back(gauge(metric.name, metric.help));
        for (const DeviceFigures& device : devices) {
            for (size_t kind = 0; kind < census::kDeviceKinds; ++kind) {
                if (const auto value = metric.value(device.memory[kind])) {
                    add(family,
                        with(labels_of(device), "kind", census::name_of(static_cast<census::Kind>(kind))),
                        *value);
                }
            }
        }
    }
    Family headroom = gauge("ttmem_l1_headroom_bytes",
                            "On the fullest core, from the end of the circular buffers to the lowest L1 "
                            "buffer; negative: they clash.");
    Family kernels = gauge("ttmem_kernel_bytes", "Bytes of loaded kernels by type.");
    for (const DeviceFigures& device : devices) {
        if (device.l1_worst_core.headroom) {
            add(headroom, labels_of(device), *device.l1_worst_core.headroom);
        }
        const bool is_known = device.memory[index_of(census::Kind::kernel)].is_known;
        for (size_t type = 0; is_known && type < census::kKernelTypes.size(); ++type) {
            add(kernels, with(labels_of(device), "type", census::kKernelTypes[type]),
                device.kernel_by_type[type]);
        }
    }
    families.push_back(std::move(headroom));
    families.push_back(std::move(kernels));
}

void add_telemetry(Families& families, const std::vector<DeviceFigures>& devices) {
    Family info = gauge("ttmem_device_info", "1 per device, with its properties as labels.");
    Family clocks = gauge("ttmem_device_clock_hertz", "Frequency of a clock of the chip.");
    Family trips =
        counter("ttmem_device_thermal_trips_total", "Times that the chip stopped because it was too hot.");
    for (const DeviceFigures& device : devices) {
        add(info, info_labels(device), 1);
        for (const auto& clock : kClocks) {
            if (const auto mhz = clock.value(device.telemetry)) {
                add(clocks, with(labels_of(device), "clock", clock.name), *mhz * kHertzPerMegahertz);
            }
        }
        if (device.telemetry.thermal_trips) {
            add(trips, labels_of(device), *device.telemetry.thermal_trips);
        }
    }
    families.push_back(std::move(info));
    families.push_back(std::move(clocks));
    families.push_back(std::move(trips));
    for (const auto& metric : kTelemetry) {
        Family& family = families.emplace_back(gauge(metric.name, metric.help));
        for (const DeviceFigures& device : devices) {
            if (const auto value = metric.value(device.telemetry)) {
                add(family, labels_of(device), *value);
            }
        }
    }
}

}  // namespace ttmem::daemon
