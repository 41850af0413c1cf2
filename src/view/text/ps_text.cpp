// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "view/text/format.hpp"
#include "view/text/parts.hpp"
#include "view/text/screens.hpp"
#include "view/text/tables.hpp"

namespace ttmem::view {

namespace {

using census::DeviceHoldings;
using census::Kind;
using census::ProcessFigures;

// Devices on which a process holds the same, such as the members of a mesh.
struct DeviceGroup {
    std::vector<uint32_t> ids;
    std::vector<uint32_t> logical_ids;  // what the process calls them
    const std::array<census::Holding, census::kDeviceKinds>* memory = nullptr;
};

std::vector<DeviceGroup> group_devices(const std::vector<DeviceHoldings>& devices) {
    std::vector<DeviceGroup> groups;
    for (const DeviceHoldings& device : devices) {
        auto found = std::find_if(groups.begin(), groups.end(),
                                  [&](const DeviceGroup& group) { return *group.memory == device.memory; });
        if (found == groups.end()) {
            found = groups.insert(groups.end(), DeviceGroup{{}, {}, &device.memory});
        }
        found->ids.push_back(device.id);
        found->logical_ids.push_back(device.logical_id);
    }
    return groups;
}

// "4-7 (0-3)": its own numbers are in brackets where they differ.
std::string ids_of(const DeviceGroup& group) {
    const std::string text = format_ids(group.ids);
    return group.ids == group.logical_ids ? text : text + " (" + format_ids(group.logical_ids) + ")";
}

// The columns are the same whatever the processes hold, so that they do not come and go.
std::vector<Column> columns_for(const Style& style) {
    std::vector<Column> columns = {
        pid_column(), {"USER", kLeft, 0, 5}, {"COMMAND", kLeft, 0, 10}, {"DEV", kLeft, 0, 5}};
    for (size_t i = 0; i < census::kDeviceKinds; ++i) {
        const auto kind = static_cast<Kind>(i);
        const int rank = kind == Kind::dram || kind == Kind::l1 ? 0
                         : kind == Kind::cb                     ? 1
                         : kind == Kind::kernel                 ? 4
                                                                : 6;
        columns.push_back(bytes_column(kind_title(kind), rank, style));
    }
    columns.push_back(age_column("AGE", 2));
    columns.push_back({"STATE", kLeft, 3, 0, Column::KeptPart::beginning, 9});
    columns.push_back({"SOURCE", kLeft, 5, 0, Column::KeptPart::beginning, 7});
    columns.push_back(bytes_column("RSS", 7, style));
    columns.push_back({"CONTAINER", kLeft, 8, 12});
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
        return no_process_text(view.origin, figures.inexact).add(missed_text(figures.processes_missed));
    }
    Table table(columns_for(style));
    bool on_several = false;
    bool has_own_numbers = false;
    for (const ProcessFigures& process : figures.processes) {
        std::vector<DeviceGroup> groups = group_devices(process.devices);
        if (groups.empty()) {
            groups.push_back({});  // tracked, and no device open
        }
        for (const DeviceGroup& group : groups) {
            on_several = on_several || group.ids.size() > 1;
            has_own_numbers = has_own_numbers || group.ids != group.logical_ids;
            std::vector<Line> row = {std::to_string(process.pid), process.user, process.comm, ids_of(group)};
            for (size_t kind = 0; kind < census::kDeviceKinds; ++kind) {
                row.emplace_back(group.memory == nullptr ? "-" : used_text((*group.memory)[kind], style));
            }
            row.emplace_back(age_of(process, view.origin));
            row.emplace_back(std::string(name_of(process.state)),
                             process.state == census::ProcessState::live ? Tone::plain : Tone::warn);
            row.emplace_back(std::string(name_of(process.source)));
            row.emplace_back(process.resident_bytes ? format_bytes(*process.resident_bytes, style.bytes)
                                                    : "-");
            row.emplace_back(container_of(process));
            table.add(std::move(row));
        }
    }
    Text text;
    text.add(headline(view.origin, processes_text(figures.processes), view.is_exact())).blank();
    text.add(table.text(style));
    if (on_several) {
        text.blank().add("Used bytes per device.");
    }
    if (has_own_numbers) {
        text.blank().add("DEV in brackets: what the process itself calls its devices.");
    }
    return text.add(missed_text(figures.processes_missed)).add(inexact_text(figures.inexact));
}

}  // namespace ttmem::view
