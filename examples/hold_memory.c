/* SPDX-License-Identifier: Apache-2.0 */

/*
 * How a runtime reports its device memory: registers two chips, opens a set for the mesh of both, and holds a few
 * tensors, a circular buffer and a kernel until it is told to end.
 *
 *     TT_ALLOC_TRACKING_ENABLED=1 hold_memory        (in another terminal: ttmem status)
 *
 * It prints "ready" when everything is allocated, and ends at the end of its standard input.
 */

#include <stdio.h>
#include <string.h>

#include "ttmem/ttmem.h"

enum { kChips = 2 };

/* An n300 has two of these. Sizes and addresses are those of a wormhole chip. */
static ttmem_device register_chip(uint32_t number) {
    ttmem_device_info info = {0};
    info.asic_id = 0x100000001ull + number;
    info.logical_id = number;
    info.arch = TTMEM_ARCH_WORMHOLE_B0;
    info.grid_x = 8;
    info.grid_y = 7;
    memcpy(info.board, "n300", 4);
    info.memory[TTMEM_DRAM] = (ttmem_memory_info){.base = 1048640,
                                                  .size_per_bank = 1072693184,
                                                  .capacity = 12872318208ull,
                                                  .banks = 12,
                                                  .alignment = 32,
                                                  .direction = TTMEM_BOTTOM_UP};
    info.memory[TTMEM_L1] = (ttmem_memory_info){.base = 105664,
                                                .size_per_bank = 1393472,
                                                .capacity = 78034432,
                                                .banks = 56,
                                                .alignment = 16,
                                                .direction = TTMEM_TOP_DOWN};
    return ttmem_register_device(&info);
}

int main(void) {
    if (!ttmem_enabled()) {
        fprintf(stderr, "hold_memory: tracking is off (start it with TT_ALLOC_TRACKING_ENABLED=1)\n");
        return 1;
    }
    ttmem_device chips[kChips];
    for (uint32_t i = 0; i < kChips; ++i) {
        chips[i] = register_chip(i);
    }
    const ttmem_set mesh = ttmem_open_set(chips, kChips, "mesh 1x2");

    /* A tensor of 4 MiB in pages of 2048 bytes takes a little more: the pages are spread over 12 banks. */
    ttmem_scope_push("decoder.0");
    ttmem_scope_push("ttnn::matmul");
    const ttmem_handle weights = ttmem_allocate(mesh, TTMEM_DRAM, 1048640, 4194304, 4202496, 1);
    const ttmem_handle activations = ttmem_allocate(mesh, TTMEM_L1, 1466368, 1835008, 1835008, 2);
    ttmem_scope_pop();
    const ttmem_handle cache = ttmem_allocate(mesh, TTMEM_DRAM, 1398848, 33554432, 33554432, 3);
    ttmem_tag(cache, "kv_cache");
    ttmem_scope_pop();

    /* A program: a circular buffer on 8 x 7 cores, and its kernel. Both go when the program does. */
    const uint64_t program = 42;
    ttmem_cores cores = {{0}};
    ttmem_cores_add(&cores, 0, 0, 7, 6);
    ttmem_allocate_cb(mesh, program, 105664, 65536, &cores, 0);
    ttmem_load_kernel(mesh, program, TTMEM_KERNEL_APPLICATION, 21504);

    printf("ready\n");
    fflush(stdout);
    while (getchar() != EOF) {
    }

    ttmem_program_gone(program);
    ttmem_free(activations);
    ttmem_free(weights);
    ttmem_close_set(mesh); /* and with it the cache, which was not freed */
    return 0;
}
