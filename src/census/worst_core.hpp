// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "census/figures.hpp"
#include "census/free_space.hpp"

namespace ttmem::census {

// How near circular buffers and L1 buffers come to each other on a device. L1 buffers take the same place on every core, so
// the worst core is the one on which the circular buffers of any one program reach highest; and that is where the highest
// of all circular buffers is, so neither cores nor programs need to be told apart.
struct L1Reach {
    uint64_t cb_top = 0;  // 0: there are none
    std::optional<Core> core;
    std::optional<uint64_t> lowest_buffer;

    void add_circular_buffer(uint64_t top, std::optional<Core> on);
    void add_buffer(uint64_t address);
};

// `l1` is the L1 of one core, `used` what L1 buffers take of all of them.
WorstCore worst_core(const L1Reach& reach, const Bank& l1, uint64_t used);

// One core of a mask; nothing for an empty one.
std::optional<Core> first_core(const segment::CoreMask& cores);

}  // namespace ttmem::census
