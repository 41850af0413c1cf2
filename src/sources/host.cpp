// SPDX-License-Identifier: Apache-2.0
#include "sources/host.hpp"

#include <algorithm>
#include <cassert>

#include "base/environment.hpp"
#include "base/pidfd.hpp"
#include "sources/stock_region/regions.hpp"

namespace ttmem::sources {

std::string HostReader::standard_root() {
    const char* root = base::environment("TTMEM_HOST_ROOT");
    return root == nullptr ? "" : root;
}

HostReader::HostReader(std::string root)
    : root_(std::move(root)),
      proc_(root_ + "/proc"),
      driver_({root_ + "/sys", root_ + "/proc", root_ + "/dev"}) {}

// Returns nothing if the process has ended, and null if the kernel provides no handle.
std::optional<std::shared_ptr<const base::Descriptor>> HostReader::handle_of(
    const census::Identity& identity) const {
    // Open the handle before identifying the process: the identity then belongs to the process of the handle.
    auto handle = base::open_process(static_cast<pid_t>(identity.pid));
    const auto folder = proc_.open(identity.pid);
    const auto now = folder ? proc_.identify(identity.pid, *folder) : std::nullopt;
    if (!now || !now->is_same_process(identity)) {
        return std::nullopt;
    }
    return handle ? std::make_shared<const base::Descriptor>(std::move(handle)) : nullptr;
}

HostFacts HostReader::read() {
    HostFacts facts;
    if (const auto seen = driver_.read()) {
        auto driver = std::make_shared<census::Driver>(*seen);
        driver->holders.clear();
        for (const census::Holder& holder : seen->holders) {
            if (auto handle = handle_of(holder.identity)) {
                driver->holders.push_back(holder);
                facts.holder_handles.push_back(std::move(*handle));
            }
        }
        facts.driver = std::move(driver);
    }
    stock_region::FoundTotals found = stock_region::discover(proc_, root_ + stock_region::kDefaultFolder);
    std::vector<stock_region::Problem> cleared_notes = cleared_slots_.compare(found);
    for (census::TotalsOnly& one : found.processes) {
        if (auto handle = handle_of(one.identity)) {
            one.handle = std::move(*handle);
            facts.totals_only.push_back(std::move(one));
        }
    }
    for (stock_region::Problem& problem : found.problems) {
        facts.omissions.push_back({0, census::Reason::stock_region, std::move(problem.text)});
    }
    for (stock_region::Problem& note : cleared_notes) {
        facts.omissions.push_back({0, census::Reason::stock_region, std::move(note.text)});
    }
    // A claim is no property of the process that it names.
    for (stock_region::StockClaim& claim : found.claims) {
        std::string text = claim.text();
        facts.claims.push_back({std::move(claim.process), {0, census::Reason::claimed, std::move(text)}});
    }
    for (const stock_region::FurtherClaims& further : found.further_claims) {
        facts.omissions.push_back({0, census::Reason::claimed, further.text()});
    }
    return facts;
}

namespace {

bool has_ended(const std::shared_ptr<const base::Descriptor>& handle) {
    return handle && base::has_ended(*handle);
}

// Removes holders that have ended. A process that has just died has no ledger any more, and would otherwise be shown as
// a holder that reports nothing.
std::shared_ptr<const census::Driver> without_the_dead(const HostFacts& facts) {
    assert(facts.holder_handles.size() == (facts.driver ? facts.driver->holders.size() : 0));
    if (std::none_of(facts.holder_handles.begin(), facts.holder_handles.end(), has_ended)) {
        return facts.driver;
    }
    auto driver = std::make_shared<census::Driver>(*facts.driver);
    driver->holders.clear();
    for (size_t i = 0; i < facts.driver->holders.size(); ++i) {
        if (!has_ended(facts.holder_handles[i])) {
            driver->holders.push_back(facts.driver->holders[i]);
        }
    }
    return driver;
}

}  // namespace

namespace {

// Where the driver lists who has a device open, nobody else holds memory, and those who do are listed one by one.
void note_unread(census::Census& census) {
    const census::Driver* const driver = census.driver.get();
    const bool is_list_complete = driver != nullptr && driver->lists_holders;
    const uint64_t unread =
        (is_list_complete ? 0 : census.unread.size()) + (driver != nullptr ? driver->unseen_holders : 0);
    if (unread != 0) {
        census::Omission omission{0, census::Reason::processes_unreadable,
                                  std::to_string(unread) + (unread == 1 ? " process" : " processes")};
        omission.count = unread;
        census.omissions.push_back(std::move(omission));
    }
}

}  // namespace

void add(const HostFacts& facts, census::Census& census) {
    assert(!census.driver && census.totals_only.empty());
    census.driver = without_the_dead(facts);
    const auto has_ledger = [&](const census::Identity& identity) {
        return std::any_of(
            census.processes.begin(), census.processes.end(),
            [&](const census::Process& other) { return other.identity.is_same_process(identity); });
    };
    for (const census::TotalsOnly& one : facts.totals_only) {
        if (!has_ledger(one.identity) && !has_ended(one.handle)) {
            census.totals_only.push_back(one);
        }
    }
    for (const ProcessClaim& claim : facts.claims) {
        if (!has_ledger(claim.process)) {
            census.omissions.push_back(claim.omission);
        }
    }
    census.omissions.insert(census.omissions.end(), facts.omissions.begin(), facts.omissions.end());
    note_unread(census);
}

}  // namespace ttmem::sources
