// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "view/text/format.hpp"
#include "view/text/parts.hpp"
#include "view/text/screens.hpp"

namespace ttmem::view {

namespace {

using census::DeviceHoldings;
using census::Kind;
using census::ProcessFigures;

// Devices on which a process holds the same, such as the members of a mesh.
struct DeviceGroup {
    std::vector<uint32_t> ids;
    const std::array<census::Holding, census::kDeviceKinds>* memory = nullptr;
};

std::vector<DeviceGroup> group_devices(const std::vector<DeviceHoldings>& devices) {
    std::vector<DeviceGroup> groups;
    for (const DeviceHoldings& device : devices) {
        auto found = std::find_if(groups.begin(), groups.end(),
                                  [&](const DeviceGroup& group) { return *group.memory == device.memory; });
        if (found == groups.end()) {
            found = groups.insert(groups.end(), DeviceGroup{{}, &device.memory});
        }
        found->ids.push_back(device.id);
    }
    return groups;
}

bool holds(const ProcessFigures& process, Kind kind) {
    return std::any_of(process.devices.begin(), process.devices.end(),
                       [&](const DeviceHoldings& held) { return held.memory[index_of(kind)].used != 0; });
}

// DRAM and L1 always, other kinds if any process holds some.
std::vector<Kind> kinds_to_show(const std::vector<ProcessFigures>& processes) {
    std::vector<Kind> kinds;
    for (size_t i = 0; i < census::kDeviceKinds; ++i) {
        const auto kind = static_cast<Kind>(i);
        const bool anyone = std::any_of(processes.begin(), processes.end(),
                                        [&](const ProcessFigures& process) { return holds(process, kind); });
        if (anyone || kind == Kind::dram || kind == Kind::l1) {
            kinds.push_back(kind);
        }
    }
    return kinds;
}

std::string title_of(Kind kind) {
    std::string title(name_of(kind));
    std::transform(title.begin(), title.end(), title.begin(),
                   [](char c) { return c >= 'a' && c <= 'z' ? c - 32 : c; });
    return title;
}

std::vector<Column> columns_for(const std::vector<Kind>& kinds, bool in_containers) {
    std::vector<Column> columns = {
        {"PID"}, {"USER", kLeft, 0, 5}, {"COMMAND", kLeft, 0, 10}, {"DEV", kLeft, 0, 5}};
    for (const Kind kind : kinds) {
        const int rank = kind == Kind::dram || kind == Kind::l1     ? 0
                         : kind == Kind::cb || kind == Kind::kernel ? 1
                                                                    : 2;
        columns.push_back({title_of(kind), kRight, rank});
    }
    columns.push_back({"AGE", kRight, 4});
    columns.push_back({"STATE", kLeft, 5});
    columns.push_back({"SOURCE", kLeft, 6});
    if (in_containers) {
        columns.push_back({"CONTAINER", kLeft, 7});
    }
    return columns;
}

std::string age_of(const ProcessFigures& process, const Origin& origin) {
    return format_age(origin.time_ns > process.start_time_ns ? origin.time_ns - process.start_time_ns : 0);
}

// "docker 3f2a1b4c5d6e, pid 7 inside".
std::string container_of(const ProcessFigures& process) {
    if (!process.container) {
        return "-";
    }
    constexpr size_t kShortId = 12;  // as container runtimes show it
    std::string text = process.container->runtime.empty() ? "" : process.container->runtime + " ";
    text += process.container->id.substr(0, kShortId);
    return process.inner_pid == process.pid ? text
                                            : text + ", pid " + std::to_string(process.inner_pid) + " inside";
}

std::string used_text(const census::Holding& held, const Style& style) {
    return held.is_known ? format_bytes(held.used, style.bytes) : "unknown";
}

}  // namespace

Text ps_text(const View& view, const Style& style) {
    const auto& figures = view.figures;
    if (figures.processes.empty()) {
        return no_process_text(view.origin, figures.inexact);
    }
    const std::vector<Kind> kinds = kinds_to_show(figures.processes);
    const bool in_containers =
        std::any_of(figures.processes.begin(), figures.processes.end(),
                    [](const ProcessFigures& process) { return process.container.has_value(); });
    Table table(columns_for(kinds, in_containers));
    bool on_several = false;
    for (const ProcessFigures& process : figures.processes) {
        std::vector<DeviceGroup> groups = group_devices(process.devices);
        if (groups.empty()) {
            groups.push_back({});  // tracked, and no device open
        }
        for (const DeviceGroup& group : groups) {
            on_several = on_several || group.ids.size() > 1;
            std::vector<Line> row = {std::to_string(process.pid), process.user, process.comm,
                                     format_ids(group.ids)};
            for (const Kind kind : kinds) {
                row.emplace_back(group.memory == nullptr ? "-"
                                                         : used_text((*group.memory)[index_of(kind)], style));
            }
            row.emplace_back(age_of(process, view.origin));
            row.emplace_back(std::string(name_of(process.state)),
                             process.state == census::ProcessState::live ? Tone::plain : Tone::warn);
            row.emplace_back(std::string(name_of(process.source)));
            if (in_containers) {
                row.emplace_back(container_of(process));
            }
            table.add(std::move(row));
        }
    }
    std::vector<std::string> left_out;
    Text text;
    text.add(headline(view.origin, processes_text(figures.processes), view.is_exact())).blank();
    text.add(table.text(style, &left_out));
    std::erase_if(left_out, [](const std::string& title) {
        return title == "AGE" || title == "STATE" || title == "SOURCE" || title == "CONTAINER";
    });
    text.add(left_out_text(left_out));
    if (on_several) {
        text.blank().add("Used bytes per device.");
    }
    return text.add(inexact_text(figures.inexact));
}

}  // namespace ttmem::view
