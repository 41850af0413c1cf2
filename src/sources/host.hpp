// SPDX-License-Identifier: Apache-2.0
#pragma once

// What can be read on a host without the cooperation of a process: the driver's devices and their holders, and the
// regions of stock tt-metal.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/descriptor.hpp"
#include "census/census.hpp"
#include "sources/driver/driver.hpp"
#include "sources/proc.hpp"
#include "sources/stock_region/cleared_slots.hpp"

namespace ttmem::sources {

// The stock region of another user says what this process holds.
struct ProcessClaim {
    census::Identity process;
    census::Omission omission;
};

struct HostFacts {
    std::shared_ptr<const census::Driver> driver;
    // One handle per holder, in the same order, which reports the end of that process. Null if the kernel provides no
    // handle.
    std::vector<std::shared_ptr<const base::Descriptor>> holder_handles;
    std::vector<census::TotalsOnly> totals_only;
    std::vector<census::Omission> omissions;
    std::vector<ProcessClaim> claims;
};

// Not thread-safe. What changed between two reads is known only to one that read both.
class HostReader {
public:
    // The folder used as "/": $TTMEM_HOST_ROOT (set by tests), or the real root.
    static std::string standard_root();

    explicit HostReader(std::string root = standard_root());
    HostReader(const HostReader&) = delete;
    HostReader& operator=(const HostReader&) = delete;

    HostFacts read();

private:
    std::optional<std::shared_ptr<const base::Descriptor>> handle_of(const census::Identity& identity) const;

    std::string root_;
    Proc proc_;
    driver::DriverTree driver_;
    stock_region::ClearedSlots cleared_slots_{proc_};
};

// Adds the facts to a census whose processes are complete. Processes that have a ledger are not counted again, claims
// about them are dropped, and ended processes are left out.
void add(const HostFacts& facts, census::Census& census);

}  // namespace ttmem::sources
