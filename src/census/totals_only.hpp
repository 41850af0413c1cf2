// SPDX-License-Identifier: Apache-2.0
#pragma once

// A process of which only totals are known: no address, no name, no count.

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/descriptor.hpp"
#include "census/kind.hpp"
#include "census/process.hpp"

namespace ttmem::census {

struct DeviceTotals {
    uint64_t asic_id = 0;
    uint32_t logical_id = 0;                                      // what the process calls the device
    std::array<std::optional<uint64_t>, kDeviceKinds> requested;  // absent: the source can't tell

    bool operator==(const DeviceTotals&) const = default;
};

struct TotalsOnly {
    Identity identity;
    Source source = Source::stock;
    std::shared_ptr<const base::Descriptor> handle;  // the kernel's word on its end
    std::vector<DeviceTotals> devices;               // by ASIC id
};

}  // namespace ttmem::census
