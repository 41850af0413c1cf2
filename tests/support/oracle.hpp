// SPDX-License-Identifier: Apache-2.0
#pragma once

// The state that a test reported, for comparison with a segment. A set is identified by its index, which is the low
// byte of the ttmem_set.

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "segment/reader.hpp"
#include "ttmem/ttmem.h"

namespace ttmem::test {

// All fields of a live allocation that its reporter knows.
struct Live {
    uint64_t owner = 0;
    uint64_t address = 0;
    uint64_t requested = 0;
    uint64_t reserved = 0;
    uint8_t set = 0;
    segment::AllocationKind kind = segment::AllocationKind::dram;
    segment::AllocationFlags flags;
    std::string name;
    std::optional<segment::CoreMask> cores;

    auto operator<=>(const Live&) const = default;
    bool operator==(const Live&) const = default;
};

std::string to_text(const Live& live);

// A DRAM buffer whose owner reports every field: the call that reports it, and the resulting live allocation.
ttmem_handle allocate_dram(ttmem_set set, uint64_t owner);
Live live_dram(ttmem_set set, uint64_t owner);

// Pools that are not all zero, by set and kind. Peaks are left out (0).
using Pools = std::map<std::pair<uint32_t, segment::AllocationKind>, segment::PoolTotals>;

Pools pools_of(const std::vector<Live>& live);
Pools pools_of(const segment::Totals& totals);

// The ledger as a list, sorted.
std::vector<Live> ledger_of(const segment::Reader& reader);

// All differences between a quiet segment and `expected`, in the ledger, the sums of the ledger, and the pools. Empty
// if there are none.
std::vector<std::string> differences(const segment::Reader& reader, std::vector<Live> expected);

// The pool of one set and kind, including its peak.
segment::PoolTotals pool(const segment::Reader& reader, ttmem_set set, segment::AllocationKind kind);

// The mask of a rectangle of cores, for the client and for the expectation.
ttmem_cores rectangle(unsigned x0, unsigned y0, unsigned x1, unsigned y1);
segment::CoreMask mask_of(const ttmem_cores& cores);
uint64_t count_cores(const ttmem_cores& cores);

// A device that differs from others only by its number.
ttmem_device make_device(uint32_t logical_id);

// A set with one device of its own.
ttmem_set make_set(uint32_t logical_id = 0);

}  // namespace ttmem::test
