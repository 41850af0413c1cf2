// SPDX-License-Identifier: Apache-2.0
#include "view/model/devices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

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

std::string no_such_device(std::string_view name) {
    return "there is no device " + std::string(name) + " ('ttmem status' lists them)";
}

std::optional<std::string> keep_devices(View& view, const std::vector<std::string>& names) {
    std::set<uint32_t> ids;
    for (const std::string& name : names) {
        const census::DeviceFigures* const found = find_device(view, name);
        if (found == nullptr) {
            return no_such_device(name);
        }
        ids.insert(found->id);
    }
    const auto is_elsewhere = [&](const auto& one) { return !ids.contains(one.id); };
    std::erase_if(view.figures.devices, is_elsewhere);
    for (census::ProcessFigures& process : view.figures.processes) {
        std::erase_if(process.devices, is_elsewhere);
    }
    drop_processes(view.figures.processes, view.figures.inexact,
                   [](const census::ProcessFigures& process) { return process.devices.empty(); });
    return std::nullopt;
}

}  // namespace ttmem::view
