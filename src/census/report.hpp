// SPDX-License-Identifier: Apache-2.0
#pragma once

// The reports of all processes with a ledger.

#include <cstdint>
#include <optional>
#include <vector>

#include "census/census.hpp"

namespace ttmem::census {

// The devices and pools of one process, read at one moment.
struct Report {
    const Process* process = nullptr;
    std::vector<std::optional<ttmem_device_info>> devices;  // by index of its device table
    segment::Totals totals;

    uint64_t members_of_open_sets() const;
};

// Reads the processes within the shares of their users. Where a share runs out, the totals are cut
// (segment::Totals::is_cut).
std::vector<Report> read_reports(const Census& census, WorkShares& shares);
std::vector<Report> read_reports(const Census& census);

// The indexes of the reports, the oldest process first. Shares are used in this order, so that later processes of a
// user take nothing away from earlier ones.
std::vector<size_t> by_age(const std::vector<Report>& reports);

}  // namespace ttmem::census
