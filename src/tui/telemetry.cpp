// SPDX-License-Identifier: Apache-2.0

// What the driver says of each device, against its limits, and how it goes.

#include <fmt/format.h>

#include <algorithm>

#include "tui/screens.hpp"

namespace ttmem::tui {

namespace {

using census::DeviceFigures;
using census::Telemetry;
using view::Cell;
using view::kLeft;
using view::kRight;
using view::Tone;

constexpr uint64_t kTrendNs = 60 * kSecondNs;

// "45 / 75 C": a figure and the limit that it must keep below.
Cell limited(std::optional<double> value, std::optional<double> most, const char* unit, int digits = 0) {
    if (!value) {
        return Cell("-");
    }
    const std::string limit = most ? fmt::format(" / {:.{}f}", *most, digits) : "";
    const Tone tone = !most                   ? Tone::plain
                      : *value >= *most       ? Tone::bad
                      : *value >= *most * 0.9 ? Tone::warn
                                              : Tone::good;
    return Cell(fmt::format("{:.{}f}{} {}", *value, digits, limit, unit), tone);
}

Cell heart(const Telemetry& told) {
    if (!told.is_alive) {
        return Cell("-");
    }
    return *told.is_alive ? Cell("alive", Tone::good) : Cell("stuck", Tone::bad);
}

std::string number(std::optional<uint32_t> value, const char* unit) {
    return value ? fmt::format("{} {}", *value, unit) : "-";
}

std::string trend(const Track* track, uint64_t now_ns, size_t width) {
    return track == nullptr ? "" : sparkline(*track, now_ns - std::min(now_ns, kTrendNs), now_ns, width);
}

std::string link_of(const census::DriverFacts& facts) {
    return facts.link.speed && facts.link.width ? fmt::format("{} x{}", *facts.link.speed, *facts.link.width)
                                                : "-";
}

std::string table_of(const Model& model, const view::Style& style) {
    view::Table table({{"DEV"},
                       {"BUS", kLeft, 2},
                       {"TEMPERATURE"},
                       {"LAST MINUTE", kLeft, 3},
                       {"POWER"},
                       {"LAST MINUTE", kLeft, 4},
                       {"CURRENT", kRight, 8},
                       {"VOLTAGE", kRight, 9},
                       {"AICLK"},
                       {"AXICLK", kRight, 11},
                       {"ARCCLK", kRight, 12},
                       {"HEART", kLeft, 1},
                       {"FAN", kRight, 5},
                       {"TRIPS", kRight, 6},
                       {"FIRMWARE", kLeft, 7},
                       {"LINK", kLeft, 10}});
    for (const DeviceFigures& device : model.status()->figures.devices) {
        const Telemetry& told = device.telemetry;
        const census::DriverFacts facts = device.driver.value_or(census::DriverFacts{});
        const auto found = model.tracks().find(device.id);
        const DeviceTracks* tracks = found == model.tracks().end() ? nullptr : &found->second;
        const size_t width = style.width >= 160 ? 20 : 12;
        table.add({std::to_string(device.id),
                   device.is_remote.value_or(false) ? "remote" : facts.bdf.value_or("-"),
                   limited(told.temperature_c, told.temperature_max_c, "C"),
                   trend(tracks == nullptr ? nullptr : &tracks->temperature_c, model.now_ns(), width),
                   limited(told.power_w, told.power_max_w, "W"),
                   trend(tracks == nullptr ? nullptr : &tracks->power_w, model.now_ns(), width),
                   limited(told.current_a, told.current_max_a, "A"),
                   limited(told.voltage_v, told.voltage_max_v, "V", 2), number(told.aiclk_mhz, "MHz"),
                   number(told.axiclk_mhz, "MHz"), number(told.arcclk_mhz, "MHz"), heart(told),
                   number(told.fan_rpm, "rpm"),
                   told.thermal_trips ? Cell(std::to_string(*told.thermal_trips),
                                             *told.thermal_trips == 0 ? Tone::plain : Tone::bad)
                                      : Cell("-"),
                   facts.firmware.value_or("-"), link_of(facts)});
    }
    return table.text(style);
}

}  // namespace

void draw_telemetry(const Model& model, const Ui& ui, Canvas& canvas, const Area& area) {
    const auto& devices = model.status()->figures.devices;
    const bool has_driver = std::any_of(devices.begin(), devices.end(), [](const DeviceFigures& device) {
        return device.driver.has_value();
    });
    if (!has_driver) {
        return put_note(canvas, area,
                        devices.empty()
                            ? "There are no devices here yet."
                            : "No driver is loaded that knows these devices: there is no telemetry.");
    }
    const DeviceFigures* device = chosen_device(model, ui);
    const auto chosen = static_cast<size_t>(device - devices.data());
    const auto rows = static_cast<size_t>(std::max(area.rows - 1, 0));
    put_table(canvas, area, table_of(model, style_for(canvas, area)), scroll_to(chosen, rows, devices.size()),
              chosen);
}

}  // namespace ttmem::tui
