// SPDX-License-Identifier: Apache-2.0
#pragma once

// Cells that several screens share, on the command line and in the dashboard.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "view/model/view.hpp"
#include "view/text/spans.hpp"

namespace ttmem::view {

// Bad from 90 percent, warn from 70. Plain if the whole is unknown.
Tone tone_of(uint64_t part, std::optional<uint64_t> whole);

// "[####....]" in the tone of the share. Empty if the whole is unknown or the width is less than 3.
Span bar(uint64_t part, std::optional<uint64_t> whole, size_t width);

// "[####....]  45%".
Line gauge(uint64_t part, std::optional<uint64_t> whole, size_t bar_width);

// The gauges of a device: DRAM, and L1 on its fullest core.
Line dram_gauge(const census::DeviceFigures& device, size_t bar_width);
Line l1_gauge(const census::DeviceFigures& device, size_t bar_width);

// "14.1 MiB / 12.0 GiB"; "unknown" for what is not reported.
std::string dram_text(const census::DeviceFigures& device, bool exact_bytes = false);

// What the fullest core has left; bad if negative.
Line headroom_cell(const census::WorstCore& worst, bool exact_bytes = false);

// "45 / 75 C": a value and its limit. "-" if the driver does not report the value.
std::string limited_text(std::optional<double> value, std::optional<double> limit, std::string_view unit,
                         int digits = 0);
// The same, bad from the limit on.
Line limited_cell(std::optional<double> value, std::optional<double> limit, std::string_view unit);
// "45 C", in the same tone.
Line limited_value_cell(std::optional<double> value, std::optional<double> limit, std::string_view unit);

// "alive" or "stuck"; "-" if the driver does not report it.
Line firmware_cell(const census::Telemetry& telemetry);

// "1000 MHz"; "-" if absent.
std::string number_text(std::optional<uint32_t> number, std::string_view unit);

// "16.0 GT/s PCIe x16"; "-" if unknown.
std::string link_text(const census::DriverFacts& facts);

// How many processes hold a device.
uint64_t holder_count(const View& view, uint32_t device);

}  // namespace ttmem::view
