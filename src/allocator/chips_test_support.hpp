// SPDX-License-Identifier: Apache-2.0
#pragma once

// For tests: the memory of real chips.

#include "allocator/geometry.hpp"

namespace ttmem::allocator {

inline constexpr ChipMemory kN150{.l1_size = 1'499'136,
                                  .l1_base = 105'664,
                                  .cores = 64,
                                  .dram_bank_size = 1'073'741'824,
                                  .dram_base = 1'048'640,
                                  .dram_banks = 12,
                                  .dram_alignment = 32};

// One chip of a T3000.
inline constexpr ChipMemory kT3000{.l1_size = 1'499'136,
                                   .l1_base = 105'664,
                                   .cores = 56,
                                   .dram_bank_size = 1'073'741'824,
                                   .dram_base = 1'048'640,
                                   .dram_banks = 12,
                                   .dram_alignment = 32};

inline constexpr ChipMemory kP100{.l1_size = 1'572'864,
                                  .l1_base = 111'616,
                                  .cores = 110,
                                  .dram_bank_size = 4'278'190'080,
                                  .dram_base = 1'048'704,
                                  .dram_banks = 7,
                                  .dram_alignment = 64};

}  // namespace ttmem::allocator
