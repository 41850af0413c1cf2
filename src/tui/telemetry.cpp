// SPDX-License-Identifier: Apache-2.0

// What the driver reports for each device, with limits and trends.

#include <fmt/format.h>

#include <algorithm>

#include "tui/lists.hpp"
#include "tui/screens.hpp"
#include "view/text/cells.hpp"

namespace ttmem::tui {

namespace {

using census::DeviceFigures;
using census::Telemetry;
using view::kLeft;
using view::kRight;

constexpr uint64_t kTrendNs = 60 * kSecondNs;

std::string trend(const Track* track, uint64_t now_ns, size_t width) {
    return track == nullptr ? "" : sparkline(*track, now_ns - std::min(now_ns, kTrendNs), now_ns, width);
}

// Good, warn from 90 percent of the limit, bad from the limit on.
view::Line graded_cell(std::optional<double> value, std::optional<double> limit, const char* unit,
                       int digits = 0) {
    const view::Tone tone = !value || !limit         ? view::Tone::plain
                            : *value >= *limit       ? view::Tone::bad
                            : *value >= *limit * 0.9 ? view::Tone::warn
                                                     : view::Tone::good;
    return {view::limited_text(value, limit, unit, digits), tone};
}

view::Line trips_cell(const Telemetry& telemetry) {
    if (!telemetry.thermal_trips) {
        return "-";
    }
    return {std::to_string(*telemetry.thermal_trips),
            *telemetry.thermal_trips == 0 ? view::Tone::plain : view::Tone::bad};
}

view::Text telemetry_table(const Model& model, const std::vector<const DeviceFigures*>& devices,
                           const view::Style& style) {
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
                       {"FIRMWARE", kLeft, 1},
                       {"FAN", kRight, 5},
                       {"TRIPS", kRight, 6},
                       {"VERSION", kLeft, 7},
                       {"LINK", kLeft, 10}});
    for (const DeviceFigures* shown : devices) {
        const DeviceFigures& device = *shown;
        const Telemetry& telemetry = device.telemetry;
        const census::DriverFacts facts = device.driver.value_or(census::DriverFacts{});
        const auto found = model.tracks().find(device.id);
        const DeviceTracks* tracks = found == model.tracks().end() ? nullptr : &found->second;
        const size_t width = style.width >= 160 ? 20 : 12;
        table.add(
            {std::to_string(device.id), device.is_remote.value_or(false) ? "remote" : facts.bdf.value_or("-"),
             graded_cell(telemetry.temperature_c, telemetry.temperature_max_c, "C"),
             trend(tracks == nullptr ? nullptr : &tracks->temperature_c, model.now_ns(), width),
             graded_cell(telemetry.power_w, telemetry.power_max_w, "W"),
             trend(tracks == nullptr ? nullptr : &tracks->power_w, model.now_ns(), width),
             graded_cell(telemetry.current_a, telemetry.current_max_a, "A"),
             graded_cell(telemetry.voltage_v, telemetry.voltage_max_v, "V", 2),
             view::number_text(telemetry.aiclk_mhz, "MHz"), view::number_text(telemetry.axiclk_mhz, "MHz"),
             view::number_text(telemetry.arcclk_mhz, "MHz"), view::firmware_cell(telemetry),
             view::number_text(telemetry.fan_rpm, "rpm"), trips_cell(telemetry), facts.firmware.value_or("-"),
             view::link_text(facts)});
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
        return put_note(
            canvas, area,
            devices.empty() ? kNoDevices : "No telemetry: no driver is loaded for these devices.");
    }
    const std::vector<const DeviceFigures*> shown = listed_devices(model, ui);
    if (shown.empty()) {
        return put_note(canvas, area, fmt::format("No device with '{}'.", ui.filter()));
    }
    put_list(canvas, area, telemetry_table(model, shown, style_for(canvas, area)), shown.size(),
             selected_row(model, ui));
}

}  // namespace ttmem::tui
