// SPDX-License-Identifier: Apache-2.0
#include "view/text/cells.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "view/text/format.hpp"

namespace ttmem::view {

using census::DeviceFigures;
using census::Kind;
using census::MemoryFigures;

namespace {

Tone limit_tone(std::optional<double> value, std::optional<double> limit) {
    return value && limit && *value >= *limit ? Tone::bad : Tone::plain;
}

}  // namespace

Tone tone_of(uint64_t part, std::optional<uint64_t> whole) {
    if (!whole || *whole == 0) {
        return Tone::plain;
    }
    const auto share = static_cast<double>(part) / static_cast<double>(*whole);
    return share >= 0.9 ? Tone::bad : share >= 0.7 ? Tone::warn : Tone::good;
}

Span bar(uint64_t part, std::optional<uint64_t> whole, size_t width) {
    return {format_bar(part, whole, width), tone_of(part, whole), Shape::bar};
}

Line gauge(uint64_t part, std::optional<uint64_t> whole, size_t bar_width) {
    const std::string percent = format_percent(part, whole);
    const Tone tone = tone_of(part, whole);
    Span drawn = bar(part, whole, bar_width);
    return drawn.text.empty() ? Line(percent, tone)
                              : Line(std::move(drawn)).add(fmt::format(" {:>4}", percent), tone);
}

Line dram_gauge(const DeviceFigures& device, size_t bar_width) {
    const MemoryFigures& dram = device.memory[index_of(Kind::dram)];
    return gauge(dram.used, dram.is_known ? dram.capacity : std::nullopt, bar_width);
}

Line l1_gauge(const DeviceFigures& device, size_t bar_width) {
    const census::WorstCore& l1 = device.l1_worst_core;
    return gauge(l1.used.value_or(0), l1.used ? l1.capacity : std::nullopt, bar_width);
}

std::string dram_text(const DeviceFigures& device, bool exact_bytes) {
    const MemoryFigures& dram = device.memory[index_of(Kind::dram)];
    return fmt::format("{} / {}", dram.is_known ? format_bytes(dram.used, exact_bytes) : "unknown",
                       dram.capacity ? format_bytes(*dram.capacity, exact_bytes) : "unknown");
}

Line headroom_cell(const census::WorstCore& worst, bool exact_bytes) {
    if (!worst.headroom) {
        return "unknown";
    }
    return {format_signed_bytes(*worst.headroom, exact_bytes), *worst.headroom < 0 ? Tone::bad : Tone::plain};
}

std::string limited_text(std::optional<double> value, std::optional<double> limit, std::string_view unit,
                         int digits) {
    if (!value) {
        return "-";
    }
    const std::string limit_text = limit ? fmt::format(" / {:.{}f}", *limit, digits) : "";
    return fmt::format("{:.{}f}{} {}", *value, digits, limit_text, unit);
}

Line limited_cell(std::optional<double> value, std::optional<double> limit, std::string_view unit) {
    return {limited_text(value, limit, unit), limit_tone(value, limit)};
}

Line limited_value_cell(std::optional<double> value, std::optional<double> limit, std::string_view unit) {
    return value ? Line(fmt::format("{:.0f} {}", *value, unit), limit_tone(value, limit)) : Line("-");
}

Line firmware_cell(const census::Telemetry& telemetry) {
    if (!telemetry.is_alive) {
        return "-";
    }
    return *telemetry.is_alive ? Line("alive", Tone::good) : Line("stuck", Tone::bad);
}

std::string number_text(std::optional<uint32_t> number, std::string_view unit) {
    return number ? fmt::format("{} {}", *number, unit) : "-";
}

std::string link_text(const census::DriverFacts& facts) {
    return facts.link.speed && facts.link.width ? fmt::format("{} x{}", *facts.link.speed, *facts.link.width)
                                                : "-";
}

uint64_t holder_count(const View& view, uint32_t device) {
    const auto holds = [&](const census::ProcessFigures& process) {
        return std::any_of(process.devices.begin(), process.devices.end(),
                           [&](const census::DeviceHoldings& held) { return held.id == device; });
    };
    return static_cast<uint64_t>(
        std::count_if(view.figures.processes.begin(), view.figures.processes.end(), holds));
}

}  // namespace ttmem::view
