/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TTMEM_SIM_BINDING_H
#define TTMEM_SIM_BINDING_H

#include <stdint.h>

/*
 * The simulated runtime for programs in other languages: tests and examples of the Python package. A call that fails
 * returns null or a negative number, and ttmem_sim_error() then has the runtime's text. The board is that of
 * TTMEM_SIM_BOARD. Buffer types are tt-metal's: DRAM 0, L1 1, L1_SMALL 3, TRACE 4.
 */
#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/* The text of the last failure on this thread. */
const char* ttmem_sim_error(void);

/* A mesh of one row, of the chips first .. first + count - 1, with regions of these sizes for L1_SMALL and traces. */
void* ttmem_sim_open(uint32_t first, uint32_t count, uint64_t l1_small_size, uint64_t trace_region_size);
int ttmem_sim_close(void* device);

/*
 * A buffer of this many bytes on each chip, in pages of 2048; in L1_SMALL in shards on four cores. Freed with
 * ttmem_sim_free(), also after the close.
 */
void* ttmem_sim_allocate(void* device, uint32_t buffer_type, uint64_t bytes);
uint64_t ttmem_sim_address(const void* buffer);
void ttmem_sim_free(void* buffer);

/* Runs a program with these circular buffers on the cores (0, 0) to (x - 1, y - 1). It stays in the device's cache. */
int ttmem_sim_program(void* device, const char* name, uint32_t x, uint32_t y,
                      const uint32_t* circular_buffers, uint32_t count);

/* The name of an op, as ttnn reports it. */
void ttmem_sim_enter_op(const char* name);
void ttmem_sim_leave_op(void);

/* What the allocator of the first chip says: banks, and bytes in a bank: all, allocated, free, largest free block. */
int ttmem_sim_memory_view(void* device, uint32_t buffer_type, uint64_t view[5]);

/*
 * Its blocks by address, three numbers each: address, bytes, and 1 if it is allocated. The result is the number of
 * blocks; those beyond `capacity` are not written.
 */
int ttmem_sim_block_table(void* device, uint32_t buffer_type, uint64_t* blocks, uint32_t capacity);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
