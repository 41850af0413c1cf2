// SPDX-License-Identifier: Apache-2.0
#include "daemon/roster.hpp"

#include <algorithm>

namespace ttmem::daemon {

using sources::segments::FileId;

namespace {

// A process that writes a segment of its own and speaks the classic wire too says everything twice. The segment is exact.
void count_once(std::vector<census::Process>& processes) {
    std::map<std::pair<uint32_t, uint64_t>, census::Source> best;
    const auto key = [](const census::Process& one) {
        return std::pair(one.identity.pid, one.identity.start_time);
    };
    for (const census::Process& one : processes) {
        census::Source& source = best.try_emplace(key(one), one.source).first->second;
        source = std::min(source, one.source);
    }
    std::erase_if(processes, [&](const census::Process& one) { return one.source != best.at(key(one)); });
}

}  // namespace

std::optional<uint32_t> Roster::add(const census::Process& process, FileId file) {
    const std::lock_guard lock(mutex_);
    size_t of_user = 0;
    for (const auto& [number, member] : members_) {
        if (member.file == file) {
            return std::nullopt;
        }
        of_user += member.process.identity.uid == process.identity.uid ? 1u : 0u;
    }
    const uint32_t pid = process.identity.pid;
    if (members_.size() >= limits_.processes || of_user >= limits_.of_one_user) {
        over_limit_[pid] = {pid, "segment is one too many (too many tracked processes), skipped", false};
        return std::nullopt;
    }
    over_limit_.erase(pid);
    const uint32_t number = ++last_number_;
    members_.emplace(number, Member{number, process, file});
    return number;
}

std::optional<Roster::Member> Roster::remove(uint32_t number) {
    const std::lock_guard lock(mutex_);
    const auto found = members_.find(number);
    if (found == members_.end()) {
        return std::nullopt;
    }
    std::optional<Member> member(std::move(found->second));
    members_.erase(found);
    return member;
}

void Roster::set_skipped(std::vector<census::Skipped> skipped) {
    const std::lock_guard lock(mutex_);
    found_skipped_ = std::move(skipped);
    over_limit_.clear();  // who is still there is found again, and refused again
}

void Roster::set_host(sources::HostFacts facts) {
    const std::lock_guard lock(mutex_);
    std::swap(host_, facts);
}

census::Census Roster::census() const {
    const std::lock_guard lock(mutex_);
    census::Census census;
    for (const auto& [number, member] : members_) {
        census.processes.push_back(member.process);
    }
    std::stable_sort(census.processes.begin(), census.processes.end(),
                     [](const auto& a, const auto& b) { return a.identity.pid < b.identity.pid; });
    count_once(census.processes);
    census.skipped = found_skipped_;
    for (const auto& [pid, skipped] : over_limit_) {
        census.skipped.push_back(skipped);
    }
    sources::add(host_, census);
    census.device_ids = device_ids_;
    return census;
}

std::vector<Roster::Member> Roster::members() const {
    const std::lock_guard lock(mutex_);
    std::vector<Member> members;
    for (const auto& [number, member] : members_) {
        members.push_back(member);
    }
    return members;
}

std::set<FileId> Roster::known_files() const {
    const std::lock_guard lock(mutex_);
    std::set<FileId> files;
    for (const auto& [number, member] : members_) {
        files.insert(member.file);
    }
    return files;
}

size_t Roster::size() const {
    const std::lock_guard lock(mutex_);
    return members_.size();
}

}  // namespace ttmem::daemon
