// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace tt {

enum class ARCH {
    WORMHOLE_B0 = 2,
    BLACKHOLE = 3,
    QUASAR = 4,
    Invalid = 0xFF,
};

inline std::string arch_to_str(ARCH arch) {
    switch (arch) {
        case ARCH::WORMHOLE_B0:
            return "wormhole_b0";
        case ARCH::BLACKHOLE:
            return "blackhole";
        case ARCH::QUASAR:
            return "quasar";
        case ARCH::Invalid:
            break;
    }
    return "Invalid";
}

}  // namespace tt
