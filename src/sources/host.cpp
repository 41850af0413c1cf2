// SPDX-License-Identifier: Apache-2.0
#include "sources/host.hpp"

#include <algorithm>
#include <cstdlib>

#include "base/pidfd.hpp"
#include "sources/stock_region/regions.hpp"

namespace ttmem::sources {

std::string Host::standard_root() {
    const char* root = std::getenv("TTMEM_HOST_ROOT");
    return root == nullptr ? "" : root;
}

Host::Host(std::string root)
    : root_(std::move(root)),
      proc_(root_ + "/proc"),
      driver_({root_ + "/sys", root_ + "/proc", root_ + "/dev"}) {}

HostFacts Host::look() {
    HostFacts facts;
    facts.driver = driver_.read();
    stock_region::Found found = stock_region::discover(proc_, root_ + stock_region::kDefaultFolder);
    for (census::TotalsOnly& one : found.processes) {
        // In this order: what is identified after the handle was taken is the process of the handle.
        auto handle = base::open_process(static_cast<pid_t>(one.identity.pid));
        const auto folder = proc_.open(one.identity.pid);
        const auto now = folder ? proc_.identify(one.identity.pid, *folder) : std::nullopt;
        if (handle && now && now->is_same_process(one.identity)) {
            one.handle = std::make_shared<const base::Descriptor>(std::move(handle));
            facts.totals_only.push_back(std::move(one));
        }
    }
    for (stock_region::Problem& problem : found.problems) {
        facts.skipped.push_back({0, std::move(problem.text), false});
    }
    return facts;
}

void add(const HostFacts& facts, census::Census& census) {
    census.driver = facts.driver;
    for (const census::TotalsOnly& one : facts.totals_only) {
        const bool has_ledger = std::any_of(
            census.processes.begin(), census.processes.end(),
            [&](const census::Process& other) { return other.identity.is_same_process(one.identity); });
        if (!has_ledger && !(one.handle && base::has_ended(*one.handle))) {
            census.totals_only.push_back(one);
        }
    }
    census.skipped.insert(census.skipped.end(), facts.skipped.begin(), facts.skipped.end());
}

}  // namespace ttmem::sources
