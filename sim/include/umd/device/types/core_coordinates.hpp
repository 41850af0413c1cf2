// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <umd/device/types/xy_pair.hpp>

namespace tt {

enum class CoreType {
    ARC,
    DRAM,
    ACTIVE_ETH,
    IDLE_ETH,
    PCIE,
    TENSIX,
    ROUTER_ONLY,
    SECURITY,
    L2CPU,
    DISPATCH,
    HARVESTED,
    ETH,
    WORKER,
    COUNT,
    UNSPECIFIED,
};

}  // namespace tt
