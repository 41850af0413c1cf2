// SPDX-License-Identifier: Apache-2.0
#pragma once

// The processes that are attached now. The loop adds and removes them. Any thread may take a census, which is cheap because it
// shares the ledgers.

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "census/census.hpp"
#include "daemon/budgets.hpp"
#include "sources/host.hpp"
#include "sources/segments/attach.hpp"

namespace ttmem::daemon {

struct AttachedProcess {
    uint32_t number = 0;  // never reused
    census::Process process;
    sources::segments::ExaminedFile file;
};

class ProcessTable {
public:
    explicit ProcessTable(std::shared_ptr<Budgets> budgets = std::make_shared<Budgets>())
        : budgets_(std::move(budgets)) {}

    // Returns the number of the new entry, or nothing if the file is attached already or Budget::processes does not suffice. In
    // the latter case the process is listed as skipped.
    std::optional<uint32_t> add(const census::Process& process, const sources::segments::ExaminedFile& file);
    std::optional<AttachedProcess> remove(uint32_t number);

    // Root made its segment, and it has another user now.
    void set_changed_user(uint32_t number);

    // Processes that announced themselves and could neither be attached nor counted as dead.
    void count_missed();
    uint64_t missed() const;

    // Clients of the classic wire whose reports are not counted.
    void set_classic_omissions(std::vector<census::Omission> omissions);

    // Until the first scan of /proc is over, processes may be missing.
    void set_first_scan_running(bool is_running);

    // Facts about the host from the last poll. The driver's devices have their numbers from here on.
    void set_host(sources::HostFacts facts);

    // Segments that the last scan of /proc could not use, and processes that it could not read.
    void set_omissions(std::vector<census::Omission> omissions, std::vector<uint32_t> unread);

    census::Census census() const;
    std::vector<AttachedProcess> members() const;
    std::set<sources::segments::FileId> known_files() const;
    size_t size() const;
    const std::shared_ptr<census::DeviceIds>& device_ids() const { return device_ids_; }

private:
    const std::shared_ptr<Budgets> budgets_;
    mutable std::mutex mutex_;
    uint32_t last_number_ = 0;
    std::map<uint32_t, AttachedProcess> members_;
    bool is_first_scan_running_ = false;
    uint64_t missed_ = 0;
    std::vector<census::Omission> found_omissions_;
    std::vector<uint32_t> unread_;  // ascending pids
    std::vector<census::Omission> classic_omissions_;
    sources::HostFacts host_;
    std::map<uint32_t, census::Omission> over_limit_;  // by pid
    std::shared_ptr<census::DeviceIds> device_ids_ = std::make_shared<census::DeviceIds>();
};

}  // namespace ttmem::daemon
