// SPDX-License-Identifier: Apache-2.0
#pragma once

// The circular buffers of one ledger that lie on one core.

#include <map>
#include <optional>
#include <span>
#include <vector>

#include "census/address_map.hpp"
#include "census/selection.hpp"

namespace ttmem::census {

// The end address of a circular buffer. Its request is the size on one core.
uint64_t end_of_buffer(const segment::Allocation& a);

// Reads each core set once.
class CoreMasks {
public:
    explicit CoreMasks(const segment::Reader& ledger) : ledger_(ledger) {}

    // Empty if the cores are not known.
    const std::optional<segment::CoreMask>& of(uint16_t core_set);

private:
    const segment::Reader& ledger_;
    std::map<uint16_t, std::optional<segment::CoreMask>> masks_;
};

struct CoreBuffers {
    MapCore core;  // without bytes, lowest buffer and headroom
    // By address: the buffers on the core, and those whose cores are not known.
    std::vector<segment::Allocation> buffers;
};

// The buffers on the core that is asked for, or else on the fullest. Describes at most `limit` programs.
CoreBuffers buffers_on_core(std::span<const segment::Allocation> buffers, CoreMasks& masks,
                            std::optional<Core> asked, const SelectedLedger& ledger, uint64_t limit);

}  // namespace ttmem::census
