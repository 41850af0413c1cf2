// SPDX-License-Identifier: Apache-2.0
#pragma once

// The fields of what would make a refused request fit.

#include "census/ways_out.hpp"
#include "view/json/json_io.hpp"

namespace ttmem::view {

void fields(auto& io, Like<census::FitBlock> auto& block) {
    io("address", block.address, "where it begins");
    io("bytes", block.bytes, "its length in one bank");
    io("owner", block.owner, "the runtime's id of the buffer");
    io("age_ns", block.age_ns, "how long it has been live");
    io.unless_empty("name", block.name, "its full name; null: it has none");
}

void fields(auto& io, Like<census::FitRelease> auto& release) {
    io("count", release.count, "number of neighbouring allocations");
    io("bytes", release.bytes, "their bytes in one bank");
    io("names", release.names, "distinct names of them");
    io("can_move", release.can_move, "they fit elsewhere in the bank, so moving them suffices");
    io("address", release.address, "the address that the request gets when they are freed");
    io("blocks", release.blocks, "the allocations by address, at most the first 16");
}

void fields(auto& io, Like<census::BufferToShrink> auto& buffer) {
    io.unless_empty("name", buffer.name, "its full name; null: it has none");
    io("address", buffer.address, "where it begins");
    io("bytes", buffer.bytes, "its length on one core");
    io("by", buffer.by, "how much smaller it has to be");
}

// In an object of their own, or beside other fields.
void ways_fields(auto& io, Like<census::WaysOut> auto& ways) {
    io("fits_after_compaction", ways.fits_after_compaction,
       "it does not fit, and enough is free, but not in one block");
    io("with_cores", ways.with_cores,
       "the smallest number of cores over which it would fit; null: none, or "
       "it is interleaved");
    io("with_page", ways.with_page, "a smaller page size with which it would fit; null: none");
    io("dram_address", ways.dram_address,
       "instead of L1, interleaved in DRAM as it is now, it would get this address; null: it would not fit, "
       "or, of a "
       "failure, its process has ended or has closed the device");
    io("region_size", ways.region_size,
       "`l1_small_size` (bytes per bank) or `trace_region_size` (bytes of all banks) that holds what is "
       "live, with the gaps between, and the request; of a clash the `l1_small_size` that lifts the L1 "
       "buffers enough; null: none, or it can't be proved");
    io("to_free", ways.to_free,
       "up to three sets of neighbours whose release makes room, the cheapest first");
    io("fewest_names", ways.fewest_names,
       "the set with the fewest names, if it has fewer than the first of `to_free`");
}

void fields(auto& io, Like<census::WaysOut> auto& ways) {
    ways_fields(io, ways);
    io("to_shrink", ways.to_shrink,
       "of a clash: circular buffers, each of which would suffice if it were smaller, the largest first");
}

}  // namespace ttmem::view
