// SPDX-License-Identifier: Apache-2.0
#pragma once

// Who is on this host. The census holds no figures: it knows where they are, and census/figures.hpp and
// census/allocations.hpp read them there when somebody asks.

#include <memory>
#include <string>
#include <vector>

#include "census/device_ids.hpp"
#include "census/driver.hpp"
#include "census/process.hpp"
#include "census/totals_only.hpp"

namespace ttmem::census {

// A process with a segment that can't be taken for its word, and is therefore in no figure.
struct Skipped {
    uint32_t pid = 0;         // 0: nobody knows whose it is
    std::string why;          // "segment lacks a seal, skipped"
    bool is_foreign = false;  // what it holds is not its own, so nothing is missing in the figures
};

struct Census {
    std::vector<Process> processes;        // by pid
    std::vector<TotalsOnly> totals_only;   // by pid; none of them is among the processes
    std::shared_ptr<const Driver> driver;  // absent: there is none on this host
    std::vector<Skipped> skipped;
    std::shared_ptr<DeviceIds> device_ids = std::make_shared<DeviceIds>();  // of all that come from one place
};

}  // namespace ttmem::census
