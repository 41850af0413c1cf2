// SPDX-License-Identifier: Apache-2.0
#pragma once

// Where the circular buffers of a program lie: each above those that share a core with it, from the base of L1 up.

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace ttmem::allocator {

using CoreBits = std::array<uint16_t, 16>;  // bit x of row y

struct CircularBuffer {
    uint64_t size = 0;  // on one core
    CoreBits cores{};
};

// The addresses of circular buffers, in the order in which the program made them.
std::vector<uint64_t> lay_out(std::span<const CircularBuffer> buffers, uint64_t base, uint64_t alignment);

// The end address of the highest one. 0: there is none.
uint64_t end_of_layout(std::span<const CircularBuffer> buffers, uint64_t base, uint64_t alignment);

}  // namespace ttmem::allocator
