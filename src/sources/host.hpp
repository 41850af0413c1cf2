// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a host shows without the help of any process: the driver's devices and who holds them, and the regions of stock tt-metal.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/descriptor.hpp"
#include "census/census.hpp"
#include "sources/driver/driver.hpp"
#include "sources/proc.hpp"

namespace ttmem::sources {

struct HostFacts {
    std::shared_ptr<const census::Driver> driver;
    // Of its holders, in their order: the kernel's word on their end, until the next look. Empty: there was no handle to be had.
    std::vector<std::shared_ptr<const base::Descriptor>> holder_handles;
    std::vector<census::TotalsOnly> totals_only;
    std::vector<census::Skipped> skipped;
};

// One thread at a time.
class Host {
public:
    // The folder that stands for "/": $TTMEM_HOST_ROOT, which tests set, or the real one.
    static std::string standard_root();

    explicit Host(std::string root = standard_root());

    HostFacts look();

private:
    std::optional<std::shared_ptr<const base::Descriptor>> handle_of(const census::Identity& identity) const;

    std::string root_;
    Proc proc_;
    driver::DriverTree driver_;
};

// Adds them to a census whose processes are all there: who has a ledger is not counted again, and who has ended not at all.
void add(const HostFacts& facts, census::Census& census);

}  // namespace ttmem::sources
