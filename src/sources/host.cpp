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

// Nothing where the process has gone, and an empty one where the kernel has none to give.
std::optional<std::shared_ptr<const base::Descriptor>> Host::handle_of(
    const census::Identity& identity) const {
    // In this order: what is identified after the handle was taken is the process of the handle.
    auto handle = base::open_process(static_cast<pid_t>(identity.pid));
    const auto folder = proc_.open(identity.pid);
    const auto now = folder ? proc_.identify(identity.pid, *folder) : std::nullopt;
    if (!now || !now->is_same_process(identity)) {
        return std::nullopt;
    }
    return handle ? std::make_shared<const base::Descriptor>(std::move(handle)) : nullptr;
}

HostFacts Host::look() {
    HostFacts facts;
    if (const auto seen = driver_.read()) {
        auto driver = std::make_shared<census::Driver>();
        driver->devices = seen->devices;
        for (const census::Holder& holder : seen->holders) {
            if (auto handle = handle_of(holder.identity)) {
                driver->holders.push_back(holder);
                facts.holder_handles.push_back(std::move(*handle));
            }
        }
        facts.driver = std::move(driver);
    }
    stock_region::Found found = stock_region::discover(proc_, root_ + stock_region::kDefaultFolder);
    for (census::TotalsOnly& one : found.processes) {
        if (auto handle = handle_of(one.identity)) {
            one.handle = std::move(*handle);
            facts.totals_only.push_back(std::move(one));
        }
    }
    for (stock_region::Problem& problem : found.problems) {
        facts.skipped.push_back({0, std::move(problem.text), false});
    }
    return facts;
}

namespace {

bool has_ended(const std::shared_ptr<const base::Descriptor>& handle) {
    return handle && base::has_ended(*handle);
}

// Else who has just died, and has no ledger any more, would hold its devices as one that reports nothing.
std::shared_ptr<const census::Driver> without_the_dead(const HostFacts& facts) {
    if (std::none_of(facts.holder_handles.begin(), facts.holder_handles.end(), has_ended)) {
        return facts.driver;
    }
    auto driver = std::make_shared<census::Driver>();
    driver->devices = facts.driver->devices;
    for (size_t i = 0; i < facts.driver->holders.size(); ++i) {
        if (!has_ended(facts.holder_handles[i])) {
            driver->holders.push_back(facts.driver->holders[i]);
        }
    }
    return driver;
}

}  // namespace

void add(const HostFacts& facts, census::Census& census) {
    census.driver = without_the_dead(facts);
    for (const census::TotalsOnly& one : facts.totals_only) {
        const bool has_ledger = std::any_of(
            census.processes.begin(), census.processes.end(),
            [&](const census::Process& other) { return other.identity.is_same_process(one.identity); });
        if (!has_ledger && !has_ended(one.handle)) {
            census.totals_only.push_back(one);
        }
    }
    census.skipped.insert(census.skipped.end(), facts.skipped.begin(), facts.skipped.end());
}

}  // namespace ttmem::sources
