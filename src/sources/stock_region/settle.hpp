// SPDX-License-Identifier: Apache-2.0
#pragma once

// Makes a private copy of a region while its writers continue. Writers store each figure separately and do not mark the
// start or end of an update, so no reader can get a true snapshot. Instead, the region is copied twice, and a slot that
// differs is read again until two consecutive reads agree, up to a fixed number of times.
//
// As a result, each figure is a value that the slot really held, and the pid is the one stored with it. One case
// remains: both reads may fall between two stores of the same update. Then one figure is from before the update and
// another from after it, and the next scan corrects this. A slot that changes its owner during the copy still has the
// last update of the former owner, which is before the new process started, so it is not attributed to the new one
// (regions.hpp).

#include <array>
#include <cstddef>
#include <functional>
#include <span>

#include "base/error.hpp"
#include "sources/stock_region/layout.hpp"

namespace ttmem::sources::stock_region {

// Fills all of `into` from `offset`. Returns false on failure.
using ReadAt = std::function<bool(std::span<unsigned char> into, size_t offset)>;

constexpr size_t kMostReadsOfSlot = 16;

using Copy = std::array<unsigned char, layout::kRegionBytes>;

// In the copy, a slot whose pid does not settle is free. A figure that does not settle is larger than any plausible
// one, so that the parser treats it as absent.
base::Expected<Copy> copy_settled(const ReadAt& read_at);

}  // namespace ttmem::sources::stock_region
