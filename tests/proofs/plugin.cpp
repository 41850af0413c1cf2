// SPDX-License-Identifier: Apache-2.0

// A plug-in that contains a static copy of the client, which is unmapped when the plug-in is closed.

#include "ttmem/ttmem.h"

extern "C" __attribute__((visibility("default"))) ttmem_handle plugin_report() {
    ttmem_device_info info{};
    const ttmem_device device = ttmem_register_device(&info);
    const ttmem_set set = ttmem_open_set(&device, 1, "plug-in");
    return ttmem_allocate(set, TTMEM_DRAM, 1, 2, 3, 4);
}
