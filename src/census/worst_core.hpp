// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "census/figures.hpp"
#include "census/free_space.hpp"

namespace ttmem::census {

// The distance between circular buffers and L1 buffers on a device. L1 buffers have the same address on every core,
// so the worst core is the one with the highest circular buffer. Cores and programs need not be distinguished.
struct L1Reach {
    uint64_t cb_top = 0;  // 0: none
    std::optional<Core> core;
    std::optional<uint64_t> lowest_buffer;

    void add_circular_buffer(uint64_t top, std::optional<Core> on);
    void add_buffer(uint64_t address);
};

// `l1` is the L1 of one core. `used` is the size of the L1 buffers over all cores.
WorstCore worst_core(const L1Reach& reach, const Bank& l1, uint64_t used);

// Returns one core of a mask; empty for an empty mask.
std::optional<Core> first_core(const segment::CoreMask& cores);

bool has_core(const segment::CoreMask& cores, Core core);

}  // namespace ttmem::census
