// SPDX-License-Identifier: Apache-2.0
#pragma once

// Events as lines of text, for people and for scripts that grep them. The format is that of the earlier allocation server: one
// line per device, with a mark in front.
//
//     ✓ [PID 4711] Allocated 4194304 bytes of DRAM on device 0 (buffer_id=2560032)
//     ✗ [PID 4711] Freed buffer 2560032 on device 0 (4194304 bytes)
//     ✓ [CB_ALLOC] Device 0: +0.25 MB (Total: 0.25 MB)
//     ✗ [CB_FREE] Device 0: -0.25 MB (Total: 0 MB)
//
// Where the process calls the device by another number, the line ends with that: (buffer_id=2560032, its device 3)

#include <cstdint>
#include <optional>
#include <string>

#include "census/figures.hpp"
#include "census/kind.hpp"

namespace ttmem::daemon {

// In units of 2^20 bytes, in the shortest form with two digits: "0.25", "2.1", "14", "0".
std::string format_megabytes(uint64_t bytes);

// One allocation or free on one device. `total` is the sum of circular buffers or kernels on this device afterwards.
struct EventLineFields {
    uint32_t pid = 0;
    uint32_t device = 0;
    bool is_free = false;
    bool adds_bytes = true;
    segment::AllocationKind kind = segment::AllocationKind::dram;
    uint64_t bytes = 0;  // requested
    uint64_t address = 0;
    uint64_t total = 0;
    std::optional<uint32_t> logical_id = {};  // the process's number of the device
};

// ", its device 3" where the process calls the device by another number.
std::string own_number(uint32_t device, std::optional<uint32_t> logical_id);

std::string event_line(const EventLineFields& facts);

// "Device 0: Buffers: 18, DRAM: 15728640 bytes, L1: 22528 bytes", in requested bytes.
std::string statistics_line(const census::DeviceFigures& device);

}  // namespace ttmem::daemon
