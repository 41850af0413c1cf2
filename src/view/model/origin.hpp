// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/named_enum.hpp"

namespace ttmem::view {

constexpr uint32_t kSchema = 1;  // fields are added, never renamed

// Which program took the figures: the face itself, or the daemon for it. Those of a recording are of a past moment.
enum class OriginSource : uint8_t { direct, daemon, recording };
constexpr auto enum_names(OriginSource /*of*/) {
    return std::to_array<std::string_view>({"direct", "daemon", "recording"});
}
using base::name_of;

// Where and when the figures were taken.
struct Origin {
    std::string host;
    uint64_t time_ns = 0;  // since the epoch
    OriginSource source = OriginSource::direct;

    bool operator==(const Origin&) const = default;
};

// The host now, for figures that this process has just read.
Origin read_here();

}  // namespace ttmem::view
