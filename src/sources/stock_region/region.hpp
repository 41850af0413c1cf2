// SPDX-License-Identifier: Apache-2.0
#pragma once

// Parses a private copy of a region. Any user may have written the bytes, so the result is a region of plausible
// figures or an error, whatever the input.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "census/kind.hpp"

namespace ttmem::sources::stock_region {

using RegionBytes = std::span<const unsigned char>;

// No host has this much memory. A larger value is a counter that went below zero, or garbage.
constexpr uint64_t kMostPlausibleBytes = uint64_t{1} << 50;

// A slot that names a process. Circular buffers have no figure, because writers overwrite each other's value.
struct RegionSlot {
    uint32_t pid = 0;                                                   // in the writer's pid namespace
    std::array<std::optional<uint64_t>, census::kPoolKinds> requested;  // absent if not plausible
    uint64_t last_update_ns = 0;                                        // since the epoch
    std::string name;  // for display only: any writer can set it

    bool operator==(const RegionSlot&) const = default;
};

struct StockRegion {
    uint32_t version = 0;
    uint64_t asic_id = 0;           // 0 if not set
    uint32_t logical_id = 0;        // of the last process that attached
    std::vector<RegionSlot> slots;  // slots in use
    size_t implausible = 0;         // number of absent figures
};

// Returns Error::Code::refused if a file of this size is not a region, and unfinished if it is empty, as a new file is.
base::Expected<void> check_size(uint64_t size);

// Returns Error::Code::unfinished if the writer has not set up the region yet.
base::Expected<StockRegion> parse(RegionBytes bytes);

}  // namespace ttmem::sources::stock_region
