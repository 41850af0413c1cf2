// SPDX-License-Identifier: Apache-2.0
#include "census/report.hpp"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <tuple>

namespace ttmem::census {

namespace {

// After a death, the counters may lack the event in flight, so the ledger is used. Only the counters contain peaks.
segment::Totals last_totals(const segment::Reader& ledger, WorkBudgets& left) {
    segment::Totals counters = ledger.totals(left.counter_blocks);
    counters.settling = false;
    const uint64_t slots = ledger.slots_used();
    if (slots > left.slots) {
        counters.is_cut = true;
        return counters;
    }
    left.slots -= slots;
    segment::Totals totals = ledger.totals_from_ledger();
    for (segment::SetTotals& set : totals.sets) {
        const auto same =
            std::find_if(counters.sets.begin(), counters.sets.end(),
                         [&](const segment::SetTotals& other) { return other.index == set.index; });
        for (size_t kind = 0; same != counters.sets.end() && kind < set.pools.size(); ++kind) {
            set.pools[kind].peak = same->pools[kind].peak;
        }
    }
    totals.chips = std::move(counters.chips);
    totals.settling = false;
    return totals;
}

}  // namespace

uint64_t Report::members_of_open_sets() const {
    uint64_t members = 0;
    for (const segment::SetTotals& set : totals.sets) {
        members |= set.is_open() ? set.set.members : 0;
    }
    return members;
}

std::vector<size_t> by_age(const std::vector<Report>& reports) {
    std::vector<size_t> order(reports.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
        const Identity& one = reports[a].process->identity;
        const Identity& other = reports[b].process->identity;
        return std::tuple(one.start_time, one.pid) < std::tuple(other.start_time, other.pid);
    });
    return order;
}

std::vector<Report> read_reports(const Census& census, WorkShares& shares) {
    // The ledgers of one process follow each other.
    assert(
        std::is_sorted(census.processes.begin(), census.processes.end(),
                       [](const Process& a, const Process& b) { return a.identity.pid < b.identity.pid; }));
    std::vector<Report> reports(census.processes.size());
    for (size_t i = 0; i < reports.size(); ++i) {
        reports[i].process = &census.processes[i];
    }
    for (const size_t i : by_age(reports)) {
        const Process& process = *reports[i].process;
        assert(process.ledger && process.scan);
        WorkBudgets& left = shares.of(process.identity.uid);
        reports[i].totals = process.state == ProcessState::dead ? last_totals(*process.ledger, left)
                                                                : process.ledger->totals(left.counter_blocks);
        // Read after the sets, so that it contains all their members.
        reports[i].devices = process.ledger->devices();
    }
    return reports;
}

std::vector<Report> read_reports(const Census& census) {
    WorkShares shares(census.work_budgets);
    return read_reports(census, shares);
}

}  // namespace ttmem::census
