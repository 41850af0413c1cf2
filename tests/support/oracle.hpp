// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a test reported, in plain words, to be compared with what a segment says. A set is named by its index, which is
// the low byte of the ttmem_set.

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

// All fields of one live allocation that its reporter knows.
struct Live {
    uint64_t owner = 0;
    uint64_t address = 0;
    uint64_t requested = 0;
    uint64_t reserved = 0;
    uint8_t set = 0;
    segment::Kind kind = segment::Kind::dram;
    uint16_t flags = 0;
    std::string name;
    std::optional<segment::CoreMask> cores;

    auto operator<=>(const Live&) const = default;
    bool operator==(const Live&) const = default;
};

std::string to_text(const Live& live);

// A buffer of DRAM about which its owner tells everything: reports it, and what is live then.
ttmem_handle allocate_dram(ttmem_set set, uint64_t owner);
Live live_dram(ttmem_set set, uint64_t owner);

// Pools that are not all zero, by set and kind; peaks are left out (0).
using Pools = std::map<std::pair<uint32_t, segment::Kind>, segment::PoolTotals>;

Pools pools_of(const std::vector<Live>& live);
Pools pools_of(const segment::Totals& totals);

// The ledger as a list, sorted.
std::vector<Live> ledger_of(const segment::Reader& reader);

// Every way in which a quiet segment differs from `expected`: ledger, sums of the ledger, pools. Empty: none.
std::vector<std::string> differences(const segment::Reader& reader, std::vector<Live> expected);

// The pool of one set and kind, peak included.
segment::PoolTotals pool(const segment::Reader& reader, ttmem_set set, segment::Kind kind);

// The mask of a rectangle of cores, for both sides.
ttmem_cores rectangle(unsigned x0, unsigned y0, unsigned x1, unsigned y1);
segment::CoreMask mask_of(const ttmem_cores& cores);
uint64_t count_cores(const ttmem_cores& cores);

// A device that differs from others only by its number.
ttmem_device make_device(uint32_t logical_id);

// A set with one device of its own.
ttmem_set make_set(uint32_t logical_id = 0);

}  // namespace ttmem::test
