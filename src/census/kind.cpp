// SPDX-License-Identifier: Apache-2.0
#include "census/kind.hpp"

#include <algorithm>

namespace ttmem::census {

namespace {

constexpr std::array<std::string_view, kKinds> kNames = {"dram", "l1",     "l1_small",     "trace",
                                                         "cb",   "kernel", "system_memory"};

}  // namespace

std::string_view name_of(Kind kind) { return kNames[index_of(kind)]; }

std::optional<Kind> kind_by_name(std::string_view name) {
    const auto* const found = std::find(kNames.begin(), kNames.end(), name);
    return found == kNames.end() ? std::nullopt : std::optional(static_cast<Kind>(found - kNames.begin()));
}

std::optional<Kind> kind_of(segment::Kind kind) {
    switch (kind) {
        case segment::Kind::dram:
            return Kind::dram;
        case segment::Kind::l1:
            return Kind::l1;
        case segment::Kind::system_memory:
            return Kind::system_memory;
        case segment::Kind::l1_small:
            return Kind::l1_small;
        case segment::Kind::trace:
            return Kind::trace;
        case segment::Kind::cb:
            return Kind::cb;
        case segment::Kind::kernel_application:
        case segment::Kind::kernel_fabric:
        case segment::Kind::kernel_dispatch:
            return Kind::kernel;
    }
    return std::nullopt;
}

}  // namespace ttmem::census
