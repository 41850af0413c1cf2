// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a host shows without the help of any process: the driver's devices and who holds them, and the regions of stock tt-metal.

#include <memory>
#include <string>
#include <vector>

#include "census/census.hpp"
#include "sources/driver/driver.hpp"
#include "sources/proc.hpp"

namespace ttmem::sources {

struct HostFacts {
    std::shared_ptr<const census::Driver> driver;
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
    std::string root_;
    Proc proc_;
    driver::DriverTree driver_;
};

// Adds them to a census whose processes are all there: who has a ledger is not counted again, and who has ended not at all.
void add(const HostFacts& facts, census::Census& census);

}  // namespace ttmem::sources
