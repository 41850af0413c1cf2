// SPDX-License-Identifier: Apache-2.0
#pragma once

// Events as lines of text, for people and for scripts that grep them: the lines of the allocation server of old, one for each
// device, with its marks in front.
//
//     ✓ [PID 4711] Allocated 4194304 bytes of DRAM on device 0 (buffer_id=2560032)
//     ✗ [PID 4711] Freed buffer 2560032 on device 0 (4194304 bytes)
//     ✓ [CB_ALLOC] Device 0: +0.25 MB (Total: 0.25 MB)
//     ✗ [CB_FREE] Device 0: -0.25 MB (Total: 0 MB)

#include <cstdint>
#include <string>

#include "census/kind.hpp"

namespace ttmem::daemon {

// 2^20 bytes are a MB, in the shortest form that shows two digits: "0.25", "2.1", "14", "0".
std::string format_megabytes(uint64_t bytes);

// What happened to one allocation, on one device. `total` is what this device has of circular buffers or of kernels after it.
struct LineFacts {
    uint32_t pid = 0;
    uint32_t device = 0;
    bool is_free = false;
    bool adds_bytes = true;
    segment::Kind kind = segment::Kind::dram;
    uint64_t bytes = 0;  // requested
    uint64_t address = 0;
    uint64_t total = 0;
};

std::string event_line(const LineFacts& facts);

}  // namespace ttmem::daemon
