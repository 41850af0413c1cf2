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

const census::DeviceFigures* device_with_id(const View& view, uint32_t id) {
    const auto found =
        std::lower_bound(view.figures.devices.begin(), view.figures.devices.end(), id,
                         [](const census::DeviceFigures& one, uint32_t wanted) { return one.id < wanted; });
    return found == view.figures.devices.end() || found->id != id ? nullptr : &*found;
}

const census::MeshFigures* mesh_of_all_devices(const View& view) {
    const auto is_of_all = [&](const census::MeshFigures& mesh) {
        const std::set<uint32_t> ids(mesh.devices.begin(), mesh.devices.end());
        return uint64_t{mesh.rows} * mesh.columns == mesh.devices.size() &&
               ids.size() == mesh.devices.size() && ids.size() == view.figures.devices.size() &&
               !ids.empty() && std::all_of(ids.begin(), ids.end(), [&](uint32_t id) {
                   return device_with_id(view, id) != nullptr;
               });
    };
    const auto found = std::find_if(view.figures.meshes.begin(), view.figures.meshes.end(), is_of_all);
    return found == view.figures.meshes.end() ? nullptr : &*found;
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
    std::erase_if(view.figures.meshes, [&](const census::MeshFigures& mesh) {
        return !std::all_of(mesh.devices.begin(), mesh.devices.end(),
                            [&](uint32_t id) { return ids.contains(id); });
    });
    for (census::ProcessFigures& process : view.figures.processes) {
        std::erase_if(process.devices, is_elsewhere);
    }
    drop_processes(view.figures.processes, view.figures.inexact,
                   [](const census::ProcessFigures& process) { return process.devices.empty(); });
    return std::nullopt;
}

}  // namespace ttmem::view
