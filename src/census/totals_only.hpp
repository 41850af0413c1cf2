// SPDX-License-Identifier: Apache-2.0
#pragma once

// A process of which only totals are known: no addresses, names or counts.

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/descriptor.hpp"
#include "census/kind.hpp"
#include "census/process.hpp"

namespace ttmem::census {

struct DeviceTotals {
    uint64_t asic_id = 0;
    uint32_t logical_id = 0;                                      // the process's number of the device
    std::array<std::optional<uint64_t>, kDeviceKinds> requested;  // absent: not reported by the source

    bool operator==(const DeviceTotals&) const = default;
};

struct TotalsOnly {
    Identity identity;
    ProcessSource source = ProcessSource::stock;
    std::shared_ptr<const base::Descriptor> handle;  // a pidfd that signals its end
    std::vector<DeviceTotals> devices;               // by ASIC id
    std::string lacks;                               // the kinds that the source does not give, and why
};

}  // namespace ttmem::census
