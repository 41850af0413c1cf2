// SPDX-License-Identifier: Apache-2.0
#include "census/scan_shares.hpp"

#include <algorithm>
#include <tuple>

namespace ttmem::census {

void share_scans(Census& census, std::optional<uint32_t> pid) {
    std::vector<Process*> oldest_first;
    for (Process& process : census.processes) {
        if (!process.is_hidden && (!pid || process.identity.pid == *pid)) {
            oldest_first.push_back(&process);
        }
    }
    std::stable_sort(oldest_first.begin(), oldest_first.end(), [](const Process* a, const Process* b) {
        return std::tuple(a->identity.start_time, a->identity.pid) <
               std::tuple(b->identity.start_time, b->identity.pid);
    });
    WorkBudgets budgets = census.work_budgets;
    budgets.slots = pid ? budgets.slots_of_one_process : budgets.slots;
    WorkShares shares(budgets);
    for (Process* process : oldest_first) {
        uint64_t& left = shares.of(process->identity.uid).slots;
        const uint64_t slots = process->ledger->slots_used();
        process->is_beyond_share = slots > left;
        process->slots_to_scan = process->is_beyond_share ? 0 : slots;
        left -= process->slots_to_scan;
    }
}

std::vector<Inexactness> beyond_shares(const Census& census) {
    std::vector<Inexactness> result;
    for (const Process& process : census.processes) {
        const uint32_t pid = process.identity.pid;
        const bool is_noted = !result.empty() && result.back().pid == pid;  // its ledgers follow each other
        if (process.is_beyond_share && !is_noted) {
            result.push_back({pid, Reason::list_limit, 1});
        }
    }
    return result;
}

}  // namespace ttmem::census
