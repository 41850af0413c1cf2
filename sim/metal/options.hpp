// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/geometry.hpp"

namespace ttmem::sim {

// Options of the simulated host. A program that uses only tt-metal's API gets them from the environment:
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

// Read from the environment at the first call. An unknown board throws std::runtime_error.
const MetalOptions& metal_options();

// Call before the first device is opened. Afterwards, options that differ from the current ones throw std::logic_error.
void set_metal_options(const MetalOptions& options);

// The options of the environment, for programs that change some of them.
MetalOptions metal_options_from_environment();

}  // namespace ttmem::sim
