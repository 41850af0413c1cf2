// SPDX-License-Identifier: Apache-2.0
#pragma once

// Slots that are gone although their process still has the region open: another program set them to zero, for example because
// it took the process of another pid namespace for dead. The process goes on counting from 0, so its figures are too low until
// it closes the device. Successive scans are compared, so what was cleared before the first one is not known.

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sources/proc.hpp"
#include "sources/stock_region/regions.hpp"

namespace ttmem::sources::stock_region {

// Further processes are not looked at: reading the mappings of a process takes up to a few milliseconds.
constexpr size_t kMostMappingsPerScan = 16;

class ClearedSlots {
public:
    explicit ClearedSlots(const Proc& proc) : proc_(proc) {}

    // What the scan has to note about them, by pid and ASIC id.
    std::vector<Problem> compare(const FoundTotals& found);

private:
    struct KnownProcess {
        census::Identity identity;
        std::map<uint64_t, bool> is_cleared;  // by ASIC id
    };

    void drop_closed(uint32_t pid, KnownProcess& known, const census::TotalsOnly* now);

    const Proc& proc_;
    std::map<uint32_t, KnownProcess> known_;  // by pid
    size_t mappings_read_ = 0;                // in this scan
};

}  // namespace ttmem::sources::stock_region
