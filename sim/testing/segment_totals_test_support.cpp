// SPDX-License-Identifier: Apache-2.0
#include "sim/testing/segment_totals_test_support.hpp"

namespace ttmem::sim::testing {
namespace {

const char* kind_name(uint32_t kind) {
    switch (kind) {
        case TTMEM_DRAM:
            return "dram";
        case TTMEM_L1:
            return "l1";
        case TTMEM_L1_SMALL:
            return "l1_small";
        case TTMEM_TRACE:
            return "trace";
        case TTMEM_CB:
            return "cb";
        case TTMEM_SYSTEM_MEMORY:
            return "system_memory";
        default:
            return "kernel";
    }
}

}  // namespace

SegmentBytes add_up(const segment::Reader& reader, const segment::Totals& totals) {
    SegmentBytes bytes;
    const auto devices = reader.devices();
    for (const segment::SetTotals& set : totals.sets) {
        for (size_t device = 0; device < devices.size(); ++device) {
            if (!devices[device] || (set.set.members >> device & 1) == 0) {
                continue;
            }
            for (uint32_t kind = 0; kind < segment::kKinds; ++kind) {
                Bytes& sum = bytes[devices[device]->asic_id][kind_name(kind)];
                sum.used += set.pools[kind].used;
                sum.requested += set.pools[kind].requested;
                sum.count += set.pools[kind].count;
            }
        }
    }
    return bytes;
}

}  // namespace ttmem::sim::testing
