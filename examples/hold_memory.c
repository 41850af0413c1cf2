/* SPDX-License-Identifier: Apache-2.0 */

/*
 * How a runtime reports its device memory, in plain C. This program pretends to own the two chips of an n300 board and to
 * run a small model on the mesh of both; it holds what it has allocated until its standard input has a line or ends.
 *
 *     TT_ALLOC_TRACKING_ENABLED=1 hold_memory        (in another terminal: ttmem status)
 *
 * It links with libttmem (-lttmem) and needs nothing else.
 */

#include <stdio.h>
#include <string.h>
#include <ttmem/ttmem.h>

enum {
    CHIPS = 2,
    DRAM_BASE = 1048640,
    DRAM_BANKS = 12,
    L1_BASE = 105664,
    L1_PER_CORE = 1393472,
    L1_BANKS = 56 /* compute cores, 8 x 7 */
};

/* Describes the device: how much memory it has, and where. */
static ttmem_device register_chip(uint32_t number) {
    ttmem_device_info info = {0};
    info.asic_id = 0x2620a1 + number; /* unique; 0 where the runtime does not know it */
    info.logical_id = number;
    info.arch = TTMEM_ARCH_WORMHOLE_B0;
    info.grid_x = 8;
    info.grid_y = 7;
    memcpy(info.board, "n300", 4);

    ttmem_memory_info* dram = &info.memory[TTMEM_DRAM];
    dram->base = DRAM_BASE;
    dram->banks = DRAM_BANKS;
    dram->size_per_bank = 1073741824 - DRAM_BASE;
    dram->capacity = dram->size_per_bank * DRAM_BANKS;
    dram->alignment = 32;
    dram->direction = TTMEM_BOTTOM_UP;

    ttmem_memory_info* l1 = &info.memory[TTMEM_L1];
    l1->base = L1_BASE;
    l1->banks = L1_BANKS;
    l1->size_per_bank = L1_PER_CORE;
    l1->capacity = (uint64_t)L1_PER_CORE * L1_BANKS;
    l1->alignment = 16;
    l1->direction = TTMEM_TOP_DOWN;
    return ttmem_register_device(&info);
}

/*
 * A tensor of `size` bytes in pages of 2,048 over the banks of DRAM: each bank takes the same number of whole pages, so
 * more is given away than was asked for. ttmem keeps both figures. The address is the same in every bank.
 */
static ttmem_handle allocate_tensor(ttmem_set set, uint64_t size, uint64_t* next_address, uint64_t id) {
    const uint64_t pages = (size + 2047) / 2048;
    const uint64_t per_bank = (pages + DRAM_BANKS - 1) / DRAM_BANKS * 2048;
    const uint64_t address = *next_address;
    *next_address += per_bank;
    return ttmem_allocate(set, TTMEM_DRAM, address, size, per_bank * DRAM_BANKS, id);
}

int main(void) {
    if (!ttmem_enabled()) {
        fprintf(stderr, "hold_memory: tracking is off (start it with TT_ALLOC_TRACKING_ENABLED=1)\n");
        return 1;
    }

    /* One set for each allocator. This one allocates in lockstep on both chips: one call, counted on each. */
    ttmem_device chips[CHIPS];
    for (uint32_t number = 0; number < CHIPS; ++number) {
        chips[number] = register_chip(number);
    }
    const ttmem_set set = ttmem_open_set(chips, CHIPS, "mesh 1x2");
    ttmem_describe_mesh(set, 1, CHIPS);
    uint64_t next_address = DRAM_BASE;

    /* An allocation inside a scope carries its name: "decoder.0/ttnn::matmul". */
    ttmem_scope_push("decoder.0");
    const ttmem_handle cache = allocate_tensor(set, 64 << 20, &next_address, 1);
    ttmem_tag(cache, "kv_cache");
    ttmem_scope_push("ttnn::matmul");
    allocate_tensor(set, 4 << 20, &next_address, 2);
    allocate_tensor(set, 4 << 20, &next_address, 3);
    const ttmem_handle temporary = allocate_tensor(set, 8 << 20, &next_address, 4);
    ttmem_allocate(set, TTMEM_L1, L1_BASE + L1_PER_CORE - 40960, 2097152, (uint64_t)40960 * L1_BANKS, 5);
    ttmem_scope_pop();
    ttmem_scope_pop();

    /* A program owns circular buffers, each of N bytes on each of its cores, and the text of its kernels. */
    const uint64_t program = 7;
    ttmem_cores cores = {{0}};
    ttmem_cores_add(&cores, 0, 0, 7, 6);
    ttmem_scope_push("ttnn::matmul");
    ttmem_allocate_cb(set, program, L1_BASE, 65536, &cores, 0);
    ttmem_allocate_cb(set, program, L1_BASE + 65536, 32768, &cores, 0);
    ttmem_load_kernel(set, program, TTMEM_KERNEL_APPLICATION, 24576);
    ttmem_scope_pop();
    ttmem_load_kernel(set, 8, TTMEM_KERNEL_DISPATCH, 47104);

    /* A free takes effect at once. Closing the set frees everything that is left in it. */
    ttmem_free(temporary);

    puts("ready");
    fflush(stdout);
    (void)getchar();

    ttmem_program_gone(program);
    ttmem_close_set(set);
    return 0;
}
