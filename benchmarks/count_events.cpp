// SPDX-License-Identifier: Apache-2.0

// Performs N pairs of events and nothing else, for callgrind: the difference of two runs divided by the difference of their
// events is the number of instructions per event. It does not depend on other load.
//     count_events native|keyed|mesh|shared PAIRS

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "ttmem/allocation_client.hpp"

int main(int argc, char** argv) {
    if (argc != 3) {
        std::fprintf(stderr, "usage: count_events native|keyed|mesh|shared PAIRS\n");
        return 2;
    }
    setenv("TT_ALLOC_TRACKING_ENABLED", "1", 1);
    const uint64_t pairs = std::strtoull(argv[2], nullptr, 10);
    const bool is_shared =
        std::strcmp(argv[1], "shared") == 0;  // each chip of the mesh has a set of its own too
    const uint32_t devices = is_shared || std::strcmp(argv[1], "mesh") == 0 ? 32 : 1;
    ttmem_device members[32];
    for (uint32_t i = 0; i < devices; ++i) {
        ttmem_device_info info{};
        info.logical_id = i;
        info.asic_id = 1 + i;
        members[i] = ttmem_register_device(&info);
    }
    const ttmem_set set = ttmem_open_set(members, devices, "count");
    if (set == 0) {
        std::fprintf(stderr, "count_events: tracking is off\n");
        return 1;
    }
    for (uint32_t i = 0; is_shared && i < devices; ++i) {
        ttmem_allocate(ttmem_open_set(&members[i], 1, "chip"), TTMEM_DRAM, 4096, 2000, 2048, i);
    }
    const bool keyed = std::strcmp(argv[1], "keyed") == 0;
    for (uint64_t i = 0; i < pairs; ++i) {
        if (keyed) {
            tt::tt_metal::AllocationClient::report_allocation(0, 2000, TTMEM_DRAM, 4096 + i);
            tt::tt_metal::AllocationClient::report_deallocation(0, 4096 + i);
        } else {
            ttmem_free(ttmem_allocate(set, TTMEM_DRAM, 4096 + i, 2000, 2048, i));
        }
    }
    return 0;
}
