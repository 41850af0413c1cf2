/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TTMEM_TTMEM_H
#define TTMEM_TTMEM_H

/*
 * ttmem: report device memory to whoever looks, for tens of nanoseconds an event.
 *
 * A runtime calls these functions where it allocates and frees. Each event goes into a shared-memory segment of this
 * process, which `ttmem status`, `ttmem allocations` and the daemon read. Nothing here blocks on another process, makes
 * a thread, raises a signal or aborts; whatever goes wrong turns tracking off, with one line on standard error.
 *
 *     ttmem_device_info info = {0};
 *     info.logical_id = 0;
 *     info.asic_id = 0x1234;                              // 0 where unknown
 *     info.arch = TTMEM_ARCH_WORMHOLE_B0;
 *     info.memory[TTMEM_DRAM] = (ttmem_memory_info){.base = 1048640, .size_per_bank = 1072693184, .banks = 12,
 *         .alignment = 32, .direction = TTMEM_BOTTOM_UP, .capacity = 12872318208};
 *     ttmem_device device = ttmem_register_device(&info);
 *     ttmem_set set = ttmem_open_set(&device, 1, "device 0");
 *
 *     ttmem_scope_push("ttnn::matmul");
 *     ttmem_handle tensor = ttmem_allocate(set, TTMEM_DRAM, address, 4194304, 4202496, buffer_id);
 *     ttmem_scope_pop();
 *     ttmem_free(tensor);
 *     ttmem_close_set(set);
 *
 * Tracking is on in a process whose environment has TT_ALLOC_TRACKING_ENABLED=1 at the first call. Off, every function
 * does nothing and returns 0. All functions may be called from any thread, also from several at once, before and after
 * fork(), and during static destruction. A call from a signal handler that interrupted another call on the same thread
 * is counted and not recorded. errno is left as it was.
 *
 * The ABI is stable: functions are added, never changed.
 */

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/* What kind of memory an allocation takes. The first five are tt-metal's BufferType. */
typedef enum ttmem_kind {
    TTMEM_DRAM = 0,
    TTMEM_L1 = 1,
    TTMEM_SYSTEM_MEMORY = 2, /* host memory: listed, and in no device total */
    TTMEM_L1_SMALL = 3,
    TTMEM_TRACE = 4,
    TTMEM_CB = 5, /* circular buffers; use ttmem_allocate_cb */
    TTMEM_KERNEL_APPLICATION = 6,
    TTMEM_KERNEL_FABRIC = 7,
    TTMEM_KERNEL_DISPATCH = 8 /* kernels; use ttmem_load_kernel */
} ttmem_kind;

/* Or one of these to the kind: recorded and listed, and adding 0 bytes. */
#define TTMEM_PLANNED 0x100u /* hooked by a graph capture: nothing is really taken */
#define TTMEM_VIEW 0x200u    /* on memory that another allocation owns */

/* The reserved size of a reporter that knows only the logical one: `used` then counts that, marked inexact. */
#define TTMEM_UNKNOWN UINT64_MAX

typedef uint32_t ttmem_device; /* 0: none */
typedef uint32_t ttmem_set;    /* 0: none */
typedef uint64_t ttmem_handle; /* 0: not recorded; freeing it does nothing */

typedef enum ttmem_arch {
    TTMEM_ARCH_UNKNOWN = 0,
    TTMEM_ARCH_GRAYSKULL = 1,
    TTMEM_ARCH_WORMHOLE_B0 = 2,
    TTMEM_ARCH_BLACKHOLE = 3,
    TTMEM_ARCH_QUASAR = 4
} ttmem_arch;

typedef enum ttmem_direction { TTMEM_BOTTOM_UP = 0, TTMEM_TOP_DOWN = 1 } ttmem_direction;

/* ---- is anyone listening? ---------------------------------------------------------------------------------------- */

/* Nonzero until tracking is found to be off. Read it through ttmem_enabled(). */
extern int ttmem_maybe_enabled;

/* Decides once, from the environment, and then repeats the answer. */
int ttmem_decide_enabled(void);

/* Off costs one predicted branch. */
static inline int ttmem_enabled(void) {
    return __builtin_expect(__atomic_load_n(&ttmem_maybe_enabled, __ATOMIC_RELAXED) != 0, 0) &&
           ttmem_decide_enabled();
}

/* ---- devices and sets -------------------------------------------------------------------------------------------- */

/* The memory of one kind on one device. banks == 0 says that the kind does not exist or is not known. */
typedef struct ttmem_memory_info {
    uint64_t base;          /* lowest allocatable address in a bank */
    uint64_t size_per_bank; /* allocatable bytes in a bank, from base up */
    uint64_t capacity;      /* allocatable bytes in all banks; 0 where unknown */
    uint32_t banks;
    uint32_t alignment;
    uint32_t direction; /* ttmem_direction */
    uint32_t reserved;  /* 0 */
} ttmem_memory_info;

typedef struct ttmem_device_info {
    uint64_t asic_id;            /* unique for ever; 0 where unknown */
    uint32_t logical_id;         /* what this process calls the device */
    uint32_t arch;               /* ttmem_arch */
    uint16_t grid_x, grid_y;     /* compute cores; 0 where unknown */
    uint32_t reserved;           /* 0 */
    char board[16];              /* "n300"; need not end in a zero byte */
    ttmem_memory_info memory[5]; /* by ttmem_kind: DRAM, L1, (system memory), L1_SMALL, TRACE */
} ttmem_device_info;

/* Makes a device known, or brings it up to date where it is known already (by asic_id, else by logical_id). */
ttmem_device ttmem_register_device(const ttmem_device_info* info);

/*
 * Opens a device set: one for each allocator, that is for a single device, a mesh or a submesh. An allocation in a set
 * counts on each of its members; the same members may be in several sets. `label` may be null.
 */
ttmem_set ttmem_open_set(const ttmem_device* members, uint32_t count, const char* label);

/* Everything in the set is gone, and so is the set: device close. */
void ttmem_close_set(ttmem_set set);

/* Everything in the set is gone, and the set goes on: bulk free. */
void ttmem_clear_set(ttmem_set set);

/* ---- allocations ------------------------------------------------------------------------------------------------- */

/*
 * Records a live allocation, on each member of the set.
 *   kind       a ttmem_kind, with TTMEM_PLANNED or TTMEM_VIEW where it is one
 *   requested  logical bytes on one device
 *   reserved   what the allocator gave away for it on one device, all banks together, or TTMEM_UNKNOWN
 *   owner      the runtime's own id of the buffer, shown as it is
 */
ttmem_handle ttmem_allocate(ttmem_set set, uint32_t kind, uint64_t address, uint64_t requested,
                            uint64_t reserved, uint64_t owner);

/* Freeing twice, or something that never was, is counted and changes nothing. Any thread may free. */
void ttmem_free(ttmem_handle handle);

/* ---- names ------------------------------------------------------------------------------------------------------- */

/* Every allocation that this thread makes until the matching pop has this name, inside the names around it. */
void ttmem_scope_push(const char* name);
void ttmem_scope_pop(void);

/* Names one live allocation afterwards, inside the name it has: "decoder.3/kv_cache". */
void ttmem_tag(ttmem_handle handle, const char* name);

/* ---- programs: circular buffers and kernels ---------------------------------------------------------------------- */

/* A set of cores: bit x of row[y]. */
typedef struct ttmem_cores {
    uint16_t row[16];
} ttmem_cores;

static inline void ttmem_cores_add(ttmem_cores* cores, unsigned x0, unsigned y0, unsigned x1, unsigned y1) {
    for (unsigned y = y0; y <= y1 && y < 16; ++y) {
        for (unsigned x = x0; x <= x1 && x < 16; ++x) {
            cores->row[y] = (uint16_t)(cores->row[y] | (1u << x));
        }
    }
}

/*
 * A circular buffer of a program: `size` bytes on each of `cores`. flags: TTMEM_VIEW for a globally allocated one, or
 * TTMEM_PLANNED, else 0. A null `cores` means that they are not known: used then counts one core, marked inexact.
 */
ttmem_handle ttmem_allocate_cb(ttmem_set set, uint64_t program, uint64_t address, uint64_t size,
                               const ttmem_cores* cores, uint32_t flags);

/* The kernel text of a program, by type. Loading it again on the same devices changes nothing and gives the same handle. */
ttmem_handle ttmem_load_kernel(ttmem_set set, uint64_t program, ttmem_kind kernel_kind, uint64_t bytes);

/* The program has died, and with it all its circular buffers and kernels, in every set. */
void ttmem_program_gone(uint64_t program);

/* ---- what failed ------------------------------------------------------------------------------------------------- */

typedef struct ttmem_failure {
    uint32_t set;
    uint32_t kind;      /* ttmem_kind of the request; TTMEM_CB for a clash */
    uint64_t requested; /* logical bytes asked for, on one device */
    /* Bytes that would have been taken in one bank; for a clash the address where the circular buffers end. */
    uint64_t needed;
    uint64_t free; /* free bytes in one bank */
    /* The largest free block in one bank; for a clash the address of the lowest L1 buffer in the way. */
    uint64_t largest_free;
    uint64_t program;        /* 0 where there is none */
    ttmem_handle in_the_way; /* the allocation in the way; 0 where not known */
    uint16_t core_x, core_y; /* a core where it clashes */
    uint32_t reserved;       /* 0 */
} ttmem_failure;

void ttmem_allocation_failed(const ttmem_failure* failure);
void ttmem_cb_clashed(const ttmem_failure* failure);

/* ---- the calls of tt::tt_metal::AllocationClient (see allocation_client.hpp), keyed by device number and address --- */

void ttmem_report_allocation(int32_t device_id, uint64_t size, uint8_t buffer_type, uint64_t buffer_id);
void ttmem_report_deallocation(int32_t device_id, uint64_t buffer_id);
void ttmem_report_deallocation_anywhere(uint64_t buffer_id);
void ttmem_report_cb_allocation(int32_t device_id, uint64_t size, uint64_t cb_id);
void ttmem_report_cb_deallocation(int32_t device_id, uint64_t size, uint64_t cb_id);
void ttmem_report_kernel_load(int32_t device_id, uint64_t size, uint64_t kernel_id, uint8_t kernel_type);
void ttmem_report_kernel_unload(int32_t device_id, uint64_t size, uint64_t kernel_id);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
