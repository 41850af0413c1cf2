// SPDX-License-Identifier: Apache-2.0
#include "sources/stock_region/cleared_slots.hpp"

#include <algorithm>
#include <set>

namespace ttmem::sources::stock_region {

namespace {

// The regions that a process has mapped, by ASIC id.
std::set<uint64_t> mapped_regions(const ProcessFolder& folder) {
    std::set<uint64_t> result;
    folder.for_each_line("maps", [&](std::string_view line) {
        constexpr std::string_view kDeleted = " (deleted)";
        if (line.ends_with(kDeleted)) {
            line.remove_suffix(kDeleted.size());
        }
        if (const auto asic_id = asic_id_of(line.substr(line.rfind('/') + 1))) {
            result.insert(*asic_id);
        }
        return true;
    });
    return result;
}

bool has_slot(const census::TotalsOnly* process, uint64_t asic_id) {
    return process != nullptr &&
           std::any_of(process->devices.begin(), process->devices.end(),
                       [&](const census::DeviceTotals& device) { return device.asic_id == asic_id; });
}

}  // namespace

// Marks slots that are gone, and forgets the regions that the process closed.
void ClearedSlots::drop_closed(uint32_t pid, KnownProcess& known, const census::TotalsOnly* now) {
    const bool is_complete =
        std::all_of(known.is_cleared.begin(), known.is_cleared.end(),
                    [&](const auto& each) { return !each.second && has_slot(now, each.first); });
    if (is_complete) {
        return;
    }
    const auto folder = proc_.open(pid);
    const auto identity = folder ? proc_.identify(pid, *folder) : std::nullopt;
    if (!identity || !identity->is_same_process(known.identity)) {
        known.is_cleared.clear();
        return;
    }
    if (++mappings_read_ > kMostMappingsPerScan) {
        return;  // as it was at the last scan
    }
    const std::set<uint64_t> mapped = mapped_regions(*folder);
    std::erase_if(known.is_cleared, [&](const auto& each) {
        return !mapped.contains(each.first) && !has_slot(now, each.first);
    });
    for (auto& [asic_id, is_cleared] : known.is_cleared) {
        is_cleared = mapped.contains(asic_id) && (is_cleared || !has_slot(now, asic_id));
    }
}

std::vector<Problem> ClearedSlots::compare(const FoundTotals& found) {
    std::map<uint32_t, const census::TotalsOnly*> now;
    for (const census::TotalsOnly& process : found.processes) {
        now[process.identity.pid] = &process;
    }
    mappings_read_ = 0;
    std::vector<Problem> notes;
    for (auto& [pid, known] : known_) {
        const auto place = now.find(pid);
        const bool is_same = place != now.end() && place->second->identity.is_same_process(known.identity);
        drop_closed(pid, known, is_same ? place->second : nullptr);
        for (const auto& [asic_id, is_cleared] : known.is_cleared) {
            if (is_cleared) {
                notes.push_back({asic_id, "stock region of ASIC " + std::to_string(asic_id) +
                                              ": another program cleared the slot of process " +
                                              std::to_string(pid) + ", its figures are too low"});
            }
        }
    }
    std::erase_if(known_, [](const auto& each) { return each.second.is_cleared.empty(); });
    for (const auto& [pid, process] : now) {
        KnownProcess& known = known_[pid];
        if (!known.identity.is_same_process(process->identity)) {
            known = {process->identity, {}};
        }
        for (const census::DeviceTotals& device : process->devices) {
            known.is_cleared.emplace(device.asic_id, false);
        }
    }
    return notes;
}

}  // namespace ttmem::sources::stock_region
