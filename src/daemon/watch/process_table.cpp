// SPDX-License-Identifier: Apache-2.0
#include "daemon/watch/process_table.hpp"

#include <algorithm>
#include <cassert>

namespace ttmem::daemon {

using sources::segments::ExaminedFile;
using sources::segments::FileId;

namespace {

// A process that writes a segment and uses the classic wire too reports everything twice. Its segment is exact.
void keep_best_source(std::vector<census::Process>& processes) {
    std::map<std::pair<uint32_t, uint64_t>, census::ProcessSource> best;
    const auto key = [](const census::Process& one) {
        return std::pair(one.identity.pid, one.identity.start_time);
    };
    for (const census::Process& one : processes) {
        census::ProcessSource& source = best.try_emplace(key(one), one.source).first->second;
        source = std::min(source, one.source);
    }
    std::erase_if(processes, [&](const census::Process& one) { return one.source != best.at(key(one)); });
}

}  // namespace

std::optional<uint32_t> ProcessTable::add(const census::Process& process, const ExaminedFile& file) {
    const std::lock_guard lock(mutex_);
    const bool is_known = std::any_of(members_.begin(), members_.end(),
                                      [&](const auto& entry) { return entry.second.file.id == file.id; });
    if (is_known) {
        return std::nullopt;
    }
    const uint32_t pid = process.identity.pid;
    if (!budgets_->take(Budget::processes, process.identity.uid)) {
        over_limit_[pid] = {pid, census::Reason::segment_skipped, "not read (too many tracked processes)"};
        return std::nullopt;
    }
    over_limit_.erase(pid);
    const uint32_t number = ++last_number_;
    members_.emplace(number, AttachedProcess{number, process, file});
    return number;
}

std::optional<AttachedProcess> ProcessTable::remove(uint32_t number) {
    const std::lock_guard lock(mutex_);
    const auto found = members_.find(number);
    if (found == members_.end()) {
        return std::nullopt;
    }
    std::optional<AttachedProcess> member(std::move(found->second));
    members_.erase(found);
    budgets_->give_back(Budget::processes, member->process.identity.uid);
    return member;
}

void ProcessTable::set_changed_user(uint32_t number) {
    const std::lock_guard lock(mutex_);
    if (const auto found = members_.find(number); found != members_.end()) {
        found->second.process.has_changed_user = true;
    }
}

void ProcessTable::set_first_scan_running(bool is_running) {
    const std::lock_guard lock(mutex_);
    is_first_scan_running_ = is_running;
}

void ProcessTable::set_omissions(std::vector<census::Omission> omissions, std::vector<uint32_t> unread) {
    const std::lock_guard lock(mutex_);
    found_omissions_ = std::move(omissions);
    unread_ = std::move(unread);
    over_limit_.clear();  // those that still exist are found and rejected again
}

void ProcessTable::count_missed() {
    const std::lock_guard lock(mutex_);
    ++missed_;
}

uint64_t ProcessTable::missed() const {
    const std::lock_guard lock(mutex_);
    return missed_;
}

void ProcessTable::set_classic_omissions(std::vector<census::Omission> omissions) {
    const std::lock_guard lock(mutex_);
    classic_omissions_ = std::move(omissions);
}

void ProcessTable::set_host(sources::HostFacts facts) {
    if (facts.driver) {
        device_ids_->set_driver_devices(facts.driver->devices);
    }
    const std::lock_guard lock(mutex_);
    std::swap(host_, facts);
}

census::Census ProcessTable::census() const {
    const std::lock_guard lock(mutex_);
    census::Census census;
    for (const auto& [number, member] : members_) {
        census.processes.push_back(member.process);
    }
    std::stable_sort(census.processes.begin(), census.processes.end(),
                     [](const auto& a, const auto& b) { return a.identity.pid < b.identity.pid; });
    keep_best_source(census.processes);
    census.omissions = found_omissions_;
    census.unread = unread_;
    census.omissions.insert(census.omissions.end(), classic_omissions_.begin(), classic_omissions_.end());
    for (const auto& [pid, omission] : over_limit_) {
        census.omissions.push_back(omission);
    }
    if (is_first_scan_running_) {
        census.omissions.push_back({0, census::Reason::scan_running});
    }
    sources::add(host_, census);
    census.device_ids = device_ids_;
    return census;
}

std::vector<AttachedProcess> ProcessTable::members() const {
    const std::lock_guard lock(mutex_);
    std::vector<AttachedProcess> members;
    for (const auto& [number, member] : members_) {
        members.push_back(member);
    }
    return members;
}

std::set<FileId> ProcessTable::known_files() const {
    const std::lock_guard lock(mutex_);
    std::set<FileId> files;
    for (const auto& [number, member] : members_) {
        files.insert(member.file.id);
    }
    return files;
}

size_t ProcessTable::size() const {
    const std::lock_guard lock(mutex_);
    return members_.size();
}

}  // namespace ttmem::daemon
