// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a region says, out of bytes that nobody else can change any more. Anybody may have written them: whatever they are,
// the result is a region of plausible figures or an error.

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

using Bytes = std::span<const unsigned char>;

// No host has this much: what is above is a counter that went below zero, or garbage.
constexpr uint64_t kMostPlausibleBytes = uint64_t{1} << 50;

// A slot that names a process. Circular buffers have no figure: each writer overwrites the others' and its own.
struct Slot {
    uint32_t pid = 0;                                                   // as its writer's namespace counts
    std::array<std::optional<uint64_t>, census::kPoolKinds> requested;  // absent: not plausible
    uint64_t last_update_ns = 0;                                        // since the epoch
    std::string name;                                                   // for people: it proves nothing

    bool operator==(const Slot&) const = default;
};

struct Region {
    uint32_t version = 0;
    uint64_t asic_id = 0;     // 0: it does not say
    uint32_t logical_id = 0;  // what the last one that attached calls the device
    std::vector<Slot> slots;  // those in use
    size_t implausible = 0;   // figures that are absent
};

// Error::Code::refused where a file of that size is no region; unfinished where it is empty, as it is at first.
base::Expected<void> check_size(uint64_t size);

// Error::Code::unfinished while its writer has not set it up.
base::Expected<Region> parse(Bytes bytes);

}  // namespace ttmem::sources::stock_region
