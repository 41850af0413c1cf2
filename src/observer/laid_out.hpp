// SPDX-License-Identifier: Apache-2.0
#pragma once

// What programs lay out in L1, and how it follows from the runtime's calls.

#include <ttmem/ttmem.h>

#include <cstdint>
#include <vector>

#include "observer/metal.hpp"

namespace ttmem::observer {

// What a program lays out in L1, each by a function of its own.
enum class BufferClass : uint8_t { circular, dataflow, scratchpad };
constexpr size_t kBufferClasses = 3;

// A buffer that a program laid out, the same on all its chips.
struct LaidOutBuffer {
    uint64_t address = 0;
    uint64_t size = 0;
    ttmem_cores cores{};
    bool is_view = false;
    bool has_known_cores = true;
};

// An address that the runtime took in the memory of some cores.
struct MarkedAddress {
    CoreRectangle cores;
    uint64_t address = 0;
    uint64_t size = 0;
};

ttmem_cores mask_of(const std::vector<CoreRectangle>& ranges);

// The buffers behind a sequence of marks. Each buffer is marked once in each range of cores that it shares cores with. Where
// these ranges overlap, the buffer's own cores are not known.
std::vector<LaidOutBuffer> buffers_of(const std::vector<MarkedAddress>& marks);

}  // namespace ttmem::observer
