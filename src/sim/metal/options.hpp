// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/geometry.hpp"

namespace ttmem::sim {

// What the simulated host is like. A program that knows only tt-metal's API sets it from outside:
//
//     TTMEM_SIM_BOARD=t3000           the board, or the host full of boards
//     TTMEM_SIM_SYSTEM=1              the runtime's own buffers and kernels from open to close
//     TTMEM_SIM_KERNEL_BINARIES=1     a DRAM buffer for the kernel binaries of each program, as on hardware
//     TTMEM_SIM_REPORTING=0           GraphTracker does not report to ttmem, so that an observer can
struct MetalOptions {
    const Board* board = nullptr;
    bool system = false;
    bool kernel_binaries = false;
    bool reporting = true;

    bool operator==(const MetalOptions&) const = default;
};

// From the environment at the first call. An unknown board throws std::runtime_error.
[[nodiscard]] const MetalOptions& metal_options();

// Before the first device is opened; after that, other options than those in force throw std::logic_error.
void set_metal_options(const MetalOptions& options);

// What the environment says, for programs that change a part of it.
[[nodiscard]] MetalOptions metal_options_from_environment();

}  // namespace ttmem::sim
