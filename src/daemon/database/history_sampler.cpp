// SPDX-License-Identifier: Apache-2.0
#include "daemon/database/history_sampler.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "census/arithmetic.hpp"

namespace ttmem::daemon {

uint8_t* HistorySampler::kinds_of(const ProcessStart& key, uint32_t uid) {
    if (const auto found = known_.find(key); found != known_.end()) {
        return &found->second;
    }
    if (new_processes_[uid] >= kNewProcessesPerUser) {
        return nullptr;
    }
    ++new_processes_[uid];
    return &known_[key];
}

void HistorySampler::add(uint64_t boot_ns, const census::Census& census, const census::Figures& figures,
                         const history::Samples& samples) {
    std::map<uint32_t, const census::Identity*> identities;
    for (const census::Process& process : census.processes) {
        identities.emplace(process.identity.pid, &process.identity);
    }
    const std::lock_guard lock(mutex_);
    began_boot_ns_ = began_boot_ns_.value_or(boot_ns);
    samples.for_each_last(
        [&](const history::Samples::SeriesKey& key, const history::Samples::LastValue& last) {
            DeviceRow& row = devices_[key];
            row.device = key.first;
            row.kind = key.second;
            row.asic_id = last.asic_id;
            row.charged_to = last.charged_to ? static_cast<int64_t>(*last.charged_to) : kNobody;
            row.used = std::max(row.used, last.used);
        });
    for (const census::ProcessFigures& process : figures.processes) {
        const auto identity = identities.find(process.pid);
        if (identity == identities.end() || process.devices.empty()) {
            continue;
        }
        std::array<uint64_t, census::kDeviceKinds> used{};
        uint8_t used_kinds = 0;
        for (const census::DeviceHoldings& held : process.devices) {
            for (size_t kind = 0; kind < used.size(); ++kind) {
                used[kind] = census::saturating_add(used[kind], held.memory[kind].used);
                used_kinds = static_cast<uint8_t>(used_kinds | (used[kind] != 0 ? 1u << kind : 0u));
            }
        }
        const ProcessStart key{identity->second->pid, identity->second->start_time};
        uint8_t* const kinds =
            used_kinds == 0 && !known_.contains(key) ? nullptr : kinds_of(key, identity->second->uid);
        if (kinds == nullptr) {
            continue;
        }
        *kinds = static_cast<uint8_t>(*kinds | used_kinds);
        const auto row = processes_.try_emplace(key, ProcessRow{*identity->second, {}}).first;
        for (size_t kind = 0; kind < used.size(); ++kind) {
            if ((*kinds >> kind & 1) != 0) {
                std::optional<uint64_t>& highest = row->second.used[kind];
                highest = std::max(highest.value_or(0), used[kind]);
            }
        }
    }
}

void HistorySampler::take(HistoryBatch& batch) {
    const std::lock_guard lock(mutex_);
    batch.sampled_boot_ns = std::exchange(began_boot_ns_, std::nullopt);
    for (const auto& [key, row] : devices_) {
        batch.devices.push_back(row);
    }
    std::erase_if(known_, [&](const auto& each) { return !processes_.contains(each.first); });
    for (auto& [key, row] : processes_) {
        batch.processes.push_back(std::move(row));
    }
    devices_.clear();
    processes_.clear();
    new_processes_.clear();
}

}  // namespace ttmem::daemon
