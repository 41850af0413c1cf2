// SPDX-License-Identifier: Apache-2.0
#pragma once

// For tests: the live allocations and failures of a segment, in a form that two processes share. Times, threads and views
// are left out. A program is identified by its contents, because program numbers differ between reporters.

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "segment/reader.hpp"

namespace ttmem::observer::testing {

inline std::string members_text(const segment::Reader& reader, uint64_t members) {
    std::string text;
    const auto devices = reader.devices();
    for (size_t device = 0; device < devices.size(); ++device) {
        if (devices[device] && (members >> device & 1) != 0) {
            text += (text.empty() ? "" : "+") + std::to_string(devices[device]->asic_id);
        }
    }
    return text;
}

inline std::string cores_text(const segment::Reader& reader, uint16_t core_set) {
    std::string text;
    if (const auto cores = reader.cores(core_set); cores && core_set != 0) {
        for (const uint16_t row : *cores) {
            text += "," + std::to_string(row);
        }
    }
    return text;
}

// One line per allocation, sorted.
inline std::vector<std::string> live_list(const segment::Reader& reader) {
    std::map<uint32_t, std::string> sets;
    for (const segment::SetTotals& set : reader.sets()) {
        sets[set.index] = reader.name(set.set.label) + " of " + members_text(reader, set.set.members);
    }
    std::vector<std::string> lines;
    std::map<uint64_t, std::vector<std::string>> programs;
    reader.for_each_live([&](segment::SlotRef, const segment::Allocation& each) {
        const bool is_of_program =
            each.kind >= segment::AllocationKind::cb && each.kind <= segment::AllocationKind::kernel_dispatch;
        const bool is_kernel = is_of_program && each.kind != segment::AllocationKind::cb;
        if (!is_of_program && each.flags.has(segment::AllocationFlag::view)) {
            return true;
        }
        std::string line = sets[each.set] + " kind " + std::to_string(static_cast<int>(each.kind)) +
                           " flags " + std::to_string(each.flags.bits) + " at " +
                           (is_kernel ? "" : std::to_string(each.address)) + " requested " +
                           std::to_string(each.requested) + " reserved " + std::to_string(each.reserved) +
                           " cores " + cores_text(reader, each.core_set) + " name " + reader.name(each.name);
        if (is_of_program) {
            programs[each.owner].push_back(std::move(line));
        } else {
            lines.push_back(line + " buffer " + std::to_string(each.owner));
        }
        return true;
    });
    for (auto& [owner, of_program] : programs) {
        std::sort(of_program.begin(), of_program.end());
        std::string text = "program:";
        for (const std::string& line : of_program) {
            text += "\n    " + line;
        }
        lines.push_back(text);
    }
    std::sort(lines.begin(), lines.end());
    return lines;
}

inline std::vector<std::string> failure_list(const segment::Reader& reader) {
    std::vector<std::string> lines;
    for (const segment::Failure& each : reader.failures()) {
        std::string line =
            "type " + std::to_string(each.type) + " kind " + std::to_string(each.kind) + " on " +
            members_text(reader, each.members) + " requested " + std::to_string(each.requested) + " needed " +
            std::to_string(each.needed_per_bank) + " free " + std::to_string(each.free_per_bank) +
            " largest " + std::to_string(each.largest_free_per_bank) + " end " + std::to_string(each.cb_end) +
            " lowest " + std::to_string(each.cb_limit()) + " core " + std::to_string(each.core_x) + "," +
            std::to_string(each.core_y) + " name " + reader.name(each.name);
        if (each.has_blocker != 0) {
            line += " in the way " + std::to_string(each.blocker_kind) + " at " +
                    std::to_string(each.blocker_address) + " of " + std::to_string(each.blocker_requested) +
                    " reserved " + std::to_string(each.blocker_reserved) + " buffer " +
                    std::to_string(each.blocker_owner) + " name " + reader.name(each.blocker_name);
        }
        lines.push_back(line);
    }
    return lines;
}

// The devices by ASIC id.
inline std::vector<std::string> device_list(const segment::Reader& reader) {
    std::vector<std::string> lines;
    for (const auto& device : reader.devices()) {
        if (!device) {
            continue;
        }
        std::string line = std::to_string(device->asic_id) + " id " + std::to_string(device->logical_id) +
                           " arch " + std::to_string(device->arch) + " grid " +
                           std::to_string(device->grid_x) + "x" + std::to_string(device->grid_y);
        for (const ttmem_memory_info& memory : device->memory) {
            line += " | base " + std::to_string(memory.base) + " size " +
                    std::to_string(memory.size_per_bank) + " banks " + std::to_string(memory.banks) +
                    " capacity " + std::to_string(memory.capacity) + " alignment " +
                    std::to_string(memory.alignment) + " direction " + std::to_string(memory.direction);
        }
        lines.push_back(line);
    }
    std::sort(lines.begin(), lines.end());
    return lines;
}

}  // namespace ttmem::observer::testing
