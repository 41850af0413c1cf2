// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "segment/reader.hpp"

// For tests: a segment's totals per device, in the form of the runtime's truth.
namespace ttmem::sim::testing {

struct Bytes {
    uint64_t used = 0;
    uint64_t requested = 0;
    uint64_t count = 0;

    bool operator==(const Bytes&) const = default;
};

using DeviceBytes = std::map<std::string, Bytes>;      // by kind: dram, l1, l1_small, trace, cb, kernel
using SegmentBytes = std::map<uint64_t, DeviceBytes>;  // by ASIC id

SegmentBytes add_up(const segment::Reader& reader, const segment::Totals& totals);

}  // namespace ttmem::sim::testing
