// SPDX-License-Identifier: Apache-2.0
#pragma once

// The table of device numbers: a text file in the runtime directory of a daemon, which alone writes it. The next daemon and
// every reader without a daemon give devices the same numbers.
//
//     ttmem device numbers 1
//     0 asic 0x100 driver
//     4 asic 0x1f0 user 1000
//     5 unnamed 1 user 1001

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "census/device_ids.hpp"

namespace ttmem::census {

constexpr const char* kDeviceNumbersFile = "device-numbers";

std::string device_numbers_text(const std::vector<DeviceNumber>& numbers);

// Fails on a line that is not of this format, and on a number or a device that occurs twice.
base::Expected<std::vector<DeviceNumber>> parse_device_numbers(std::string_view text);

// Readable by everybody. False: the file is as it was.
bool write_device_numbers(const std::filesystem::path& directory, const std::vector<DeviceNumber>& numbers);

// Error::Code::gone if there is none. Refuses a file that is not a plain one of the owner of the directory, that others may
// write, or that is too large.
base::Expected<std::vector<DeviceNumber>> read_device_numbers(const std::filesystem::path& directory);

}  // namespace ttmem::census
