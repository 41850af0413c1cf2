// SPDX-License-Identifier: Apache-2.0
#pragma once

// The allocation client that patched tt-metal trees call, on top of libttmem: a tree that used the socket client
// includes this header instead and links libttmem.
//
// Buffers   a repeated report of a live (device, type, address) adds a reference and no bytes; a free takes the newest
//           live entry at that device and address. Address 0 is a hooked buffer: listed as planned, adding 0.
// CBs       a multiset of (device, address, size).
// Kernels   a repeated load changes nothing; one unload removes it.
// A free of something unknown is counted and listed, and subtracts nothing.

#include <cstdint>

#include "ttmem/ttmem.h"

namespace tt::tt_metal {

class AllocationClient {
public:
    static bool is_enabled() { return ttmem_enabled() != 0; }

    static void report_allocation(int device_id, uint64_t size, uint8_t buffer_type, uint64_t buffer_id) {
        ttmem_report_allocation(device_id, size, buffer_type, buffer_id);
    }
    static void report_deallocation(int device_id, uint64_t buffer_id) {
        ttmem_report_deallocation(device_id, buffer_id);
    }
    // The newest live entry at that address on any device; counted as ambiguous where several match.
    static void report_deallocation(uint64_t buffer_id) { ttmem_report_deallocation_anywhere(buffer_id); }

    static void report_cb_allocation(int device_id, uint64_t size, uint64_t cb_id) {
        ttmem_report_cb_allocation(device_id, size, cb_id);
    }
    static void report_cb_deallocation(int device_id, uint64_t size, uint64_t cb_id) {
        ttmem_report_cb_deallocation(device_id, size, cb_id);
    }
    // kernel_type: 0 application, 1 fabric, 2 dispatch.
    static void report_kernel_load(int device_id, uint64_t size, uint64_t kernel_id,
                                   uint8_t kernel_type = 0) {
        ttmem_report_kernel_load(device_id, size, kernel_id, kernel_type);
    }
    static void report_kernel_unload(int device_id, uint64_t size, uint64_t kernel_id) {
        ttmem_report_kernel_unload(device_id, size, kernel_id);
    }
};

}  // namespace tt::tt_metal
