// SPDX-License-Identifier: Apache-2.0
#pragma once

// The processes and devices of this host. The census holds no figures: census/figures.hpp and census/allocations.hpp
// read them from the ledgers on request.

#include <memory>
#include <string>
#include <vector>

#include "census/budgets.hpp"
#include "census/device_ids.hpp"
#include "census/driver.hpp"
#include "census/inexactness.hpp"
#include "census/process.hpp"
#include "census/totals_only.hpp"

namespace ttmem::census {

// Data that can't be read or trusted, and is therefore missing from the figures.
struct Omission {
    uint32_t pid = 0;  // 0: the host, or an unknown process
    Reason reason = Reason::segment_skipped;
    std::string detail = {};
    // The process holds the segment of another process, for example after fork(). The figures lack nothing.
    bool is_foreign = false;
    // Another user's descriptor was passed to it, with a segment that names it. The daemon's log reports it once.
    bool is_suspicious = false;
    uint64_t count = 1;

    Inexactness inexactness() const { return {pid, reason, count, detail}; }
};

struct Census {
    std::vector<Process> processes;        // by pid
    std::vector<TotalsOnly> totals_only;   // by pid; disjoint from `processes`
    std::shared_ptr<const Driver> driver;  // absent: this host has no driver
    std::vector<Omission> omissions;
    std::vector<uint32_t> unread;  // ascending pids of processes that this user may not read
    // Shared by all censuses of one source, so that ids stay the same.
    std::shared_ptr<DeviceIds> device_ids = std::make_shared<DeviceIds>();
    WorkBudgets work_budgets = {};
};

}  // namespace ttmem::census
