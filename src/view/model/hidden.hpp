// SPDX-License-Identifier: Apache-2.0
#pragma once

// What exists and is not for the asker: the details of other users' processes. Their totals are for everybody.

#include <array>
#include <cstdint>

#include "census/figures.hpp"

namespace ttmem::view {

struct Hidden {
    uint64_t processes = 0;  // tracked processes of other users
    std::array<census::Holding, census::kDeviceKinds> memory =
        {};  // held by them, over all devices asked for

    bool operator==(const Hidden&) const = default;
};

}  // namespace ttmem::view
