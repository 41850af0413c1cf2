// SPDX-License-Identifier: Apache-2.0
#pragma once

// For the tests of this folder: tracks this process, with one device and a ring of 16 events.

#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/support/own_segment.hpp"
#include "ttmem/ttmem.h"

namespace ttmem::history {

class TrackedProcess {
public:
    TrackedProcess() {
        setenv("TT_ALLOC_TRACKING_ENABLED", "1", 1);
        setenv("TTMEM_RING_RECORDS", "16", 1);
        ttmem_device_info info{};
        info.asic_id = 1;
        device_ = ttmem_register_device(&info);
    }
    ttmem_set open_set() const { return ttmem_open_set(&device_, 1, "device 0"); }
    static ttmem_handle allocate(ttmem_set set, uint64_t bytes) {
        return ttmem_allocate(set, TTMEM_DRAM, 4096, bytes, bytes, 1);
    }
    static segment::Reader reader() { return test::own_reader(); }

private:
    ttmem_device device_ = 0;
};

}  // namespace ttmem::history
