// SPDX-License-Identifier: Apache-2.0
#include "daemon/api/view_changes.hpp"

#include <cassert>
#include <utility>

namespace ttmem::daemon {

namespace {

template <class Entry>
std::map<uint32_t, const Entry*> by_key(const std::vector<Entry>& entries, uint32_t Entry::*key) {
    std::map<uint32_t, const Entry*> result;
    for (const Entry& entry : entries) {
        result[entry.*key] = &entry;
    }
    return result;
}

// An entry without a version, after an update that ran out of memory, counts as changed.
bool has_changed(const std::map<uint32_t, uint64_t>& versions, uint32_t id, uint64_t since) {
    const auto version = versions.find(id);
    return version == versions.end() || version->second > since;
}

}  // namespace

template <class Entry>
void ViewChanges::compare(const std::vector<Entry>& before, const std::vector<Entry>& now,
                          uint32_t Entry::*key, Versions& versions, bool is_process) {
    const auto old_entries = by_key(before, key);
    const auto new_entries = by_key(now, key);
    for (const auto& [id, entry] : new_entries) {
        const auto old = old_entries.find(id);
        if (old == old_entries.end() || *old->second != *entry) {
            versions[id] = number_;
        }
    }
    for (const auto& [id, entry] : old_entries) {
        if (!new_entries.contains(id)) {
            versions.erase(id);
            removals_.push_back({number_, is_process, id});
        }
    }
}

bool ViewChanges::update(view::View view) {
    if (number_ != 0 && view.figures == view_.figures) {
        return false;
    }
    ++number_;
    const census::Figures& before = view_.figures;
    const census::Figures& now = view.figures;
    compare(before.devices, now.devices, &census::DeviceFigures::id, devices_, false);
    compare(before.processes, now.processes, &census::ProcessFigures::pid, processes_, true);
    if (number_ == 1 || before.inexact != now.inexact) {
        inexact_changed_ = number_;
    }
    if (number_ == 1 || before.meshes != now.meshes) {
        meshes_changed_ = number_;
    }
    for (; removals_.size() > kMostRemovals; removals_.pop_front()) {
        forgotten_ = removals_.front().number;
    }
    view_ = std::move(view);
    assert(forgotten_ <= number_ && devices_.size() == view_.figures.devices.size());
    return true;
}

view::ViewChange ViewChanges::since(uint64_t state) const {
    assert(state <= number_);
    view::ViewChange change;
    change.processes_missed = view_.figures.processes_missed;
    for (const census::DeviceFigures& device : view_.figures.devices) {
        if (has_changed(devices_, device.id, state)) {
            change.devices.push_back(device);
        }
    }
    for (const census::ProcessFigures& process : view_.figures.processes) {
        if (has_changed(processes_, process.pid, state)) {
            change.processes.push_back(process);
        }
    }
    for (const Removal& removal : removals_) {
        const bool is_back = (removal.is_process ? processes_ : devices_).contains(removal.id);
        if (removal.number > state && !is_back) {
            (removal.is_process ? change.gone_processes : change.gone_devices).push_back(removal.id);
        }
    }
    if (inexact_changed_ > state) {
        change.inexact = view_.figures.inexact;
    }
    if (meshes_changed_ > state) {
        change.meshes = view_.figures.meshes;
    }
    return change;
}

}  // namespace ttmem::daemon
