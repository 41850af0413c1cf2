// SPDX-License-Identifier: Apache-2.0
#pragma once

// A private copy of a region whose writers do not stop for us. They store each figure by itself and give no sign of where an
// update begins or ends, so no way of reading gives a true snapshot. What is done: the copy is taken twice, and a slot that
// differs is read again until two reads in a row agree, a bounded number of times.
//
// What that gives: each figure is one that the slot really held, and its pid is the one beside it. What stays open: both
// reads may fall into the same update, between its two stores. Then one figure is of before it and the other of after it, and
// the next look puts that right. A slot that changes hands meanwhile still has the last update of its former owner, which
// is before the new one began, so that it is not taken for the new one's (regions.hpp).

#include <array>
#include <cstddef>
#include <functional>
#include <span>

#include "base/error.hpp"
#include "sources/stock_region/layout.hpp"

namespace ttmem::sources::stock_region {

// Fills all of `into` from the offset; false where it can't.
using ReadAt = std::function<bool(std::span<unsigned char> into, size_t offset)>;

constexpr size_t kMostReadsOfSlot = 16;

using Copy = std::array<unsigned char, layout::kRegionBytes>;

// In the copy, a slot whose pid does not settle is free, and a figure that does not settle is larger than any plausible one, so
// that the parser counts it as absent.
base::Expected<Copy> copy_settled(const ReadAt& read_at);

}  // namespace ttmem::sources::stock_region
