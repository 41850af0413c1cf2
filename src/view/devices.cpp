// SPDX-License-Identifier: Apache-2.0
#include "view/devices.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ttmem::view {

namespace {

bool is_called(const census::DeviceFigures& device, std::string_view name) {
    constexpr std::string_view kFolder = "/dev/tenstorrent/";
    if (device.driver && device.driver->bdf == name) {
        return true;
    }
    if (name.starts_with("0x") || name.starts_with("0X")) {
        std::string digits(name.substr(2));
        std::transform(digits.begin(), digits.end(), digits.begin(),
                       [](char c) { return c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c; });
        return device.asic_id && fmt::format("{:x}", *device.asic_id) == digits;
    }
    name.remove_prefix(name.starts_with(kFolder) ? kFolder.size() : 0);
    return name == std::to_string(device.id);
}

}  // namespace

const census::DeviceFigures* find_device(const View& view, std::string_view name) {
    const auto found = std::find_if(view.figures.devices.begin(), view.figures.devices.end(),
                                    [&](const auto& device) { return is_called(device, name); });
    return found == view.figures.devices.end() ? nullptr : &*found;
}

std::optional<std::string> keep_device(View& view, std::string_view name) {
    const census::DeviceFigures* const found = find_device(view, name);
    if (found == nullptr) {
        return "there is no device " + std::string(name) + " ('ttmem status' lists them)";
    }
    const uint32_t id = found->id;
    std::erase_if(view.figures.devices, [&](const auto& device) { return device.id != id; });
    for (census::ProcessFigures& process : view.figures.processes) {
        std::erase_if(process.devices, [&](const auto& held) { return held.id != id; });
    }
    std::erase_if(view.figures.processes, [](const auto& process) { return process.devices.empty(); });
    return std::nullopt;
}

}  // namespace ttmem::view
