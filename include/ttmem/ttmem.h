/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TTMEM_TTMEM_H
#define TTMEM_TTMEM_H

/*
 * ttmem: report device memory to monitoring tools, at tens of nanoseconds per event.
 *
 * A runtime calls these functions where it allocates and frees. Each event goes into a shared-memory segment of this
 * process, which `ttmem status`, `ttmem allocations` and the daemon read. Nothing here blocks on another process, makes
 * a thread, raises a signal or aborts; an error turns tracking off, with one line on standard error.
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

/* In C++ an enumeration may then hold any 32-bit value, as in C. */
#ifdef __cplusplus
#define TTMEM_ENUM_BASE : uint32_t
#else
#define TTMEM_ENUM_BASE
#endif

/*
 * The kind of memory that an allocation takes. The first five are tt-metal's BufferType. A call with any other number is
 * counted as inexact and records nothing.
 */
typedef enum ttmem_kind TTMEM_ENUM_BASE {
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

/* Or this to TTMEM_L1: its address is one of the allocators of single cores, not that of all banks in lockstep. */
#define TTMEM_PER_CORE 0x4000u

/* Or one of these to the flags of ttmem_allocate_cb(): programs lay these out in L1 as they do circular buffers. */
#define TTMEM_DATAFLOW 0x1000u   /* a dataflow buffer */
#define TTMEM_SCRATCHPAD 0x2000u /* a scratchpad */

/* The reserved size of a reporter that knows only the logical one: `used` then counts that, marked inexact. */
#define TTMEM_UNKNOWN UINT64_MAX

typedef uint32_t ttmem_device; /* 0: none */
typedef uint32_t ttmem_set;    /* 0: none */
typedef uint64_t ttmem_handle; /* 0: not recorded; freeing it does nothing */

typedef enum ttmem_arch TTMEM_ENUM_BASE {
    TTMEM_ARCH_UNKNOWN = 0,
    TTMEM_ARCH_GRAYSKULL = 1,
    TTMEM_ARCH_WORMHOLE_B0 = 2,
    TTMEM_ARCH_BLACKHOLE = 3,
    TTMEM_ARCH_QUASAR = 4
} ttmem_arch;

typedef enum ttmem_direction TTMEM_ENUM_BASE { TTMEM_BOTTOM_UP = 0, TTMEM_TOP_DOWN = 1 } ttmem_direction;

/* ---- is tracking on? --------------------------------------------------------------------------------------------- */

/* Nonzero until tracking is found to be off. Read it through ttmem_enabled(). */
extern int ttmem_maybe_enabled;

/* Reads the environment once and returns the same answer from then on. */
int ttmem_decide_enabled(void);

/* Off costs one predicted branch. */
static inline int ttmem_enabled(void) {
    return __builtin_expect(__atomic_load_n(&ttmem_maybe_enabled, __ATOMIC_RELAXED) != 0, 0) &&
           ttmem_decide_enabled();
}

/* Nonzero once this process has a segment, made by this copy of the library. Makes none, and decides nothing. */
int ttmem_is_reporting(void);

/* ---- devices and sets -------------------------------------------------------------------------------------------- */

/* The memory of one kind on one device. banks == 0: the kind does not exist or is not known. */
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
    uint64_t asic_id;            /* unique; 0 where unknown */
    uint32_t logical_id;         /* the number of the device in this process */
    uint32_t arch;               /* ttmem_arch */
    uint16_t grid_x, grid_y;     /* compute cores; 0 where unknown */
    uint32_t reserved;           /* 0 */
    char board[16];              /* "n300"; need not end in a zero byte */
    ttmem_memory_info memory[5]; /* by ttmem_kind: DRAM, L1, (system memory), L1_SMALL, TRACE */
} ttmem_device_info;

/* Registers a device, or updates it if it is registered already (by asic_id, else by logical_id). */
ttmem_device ttmem_register_device(const ttmem_device_info* info);

/*
 * Opens a device set: one per allocator, that is for a single device, a mesh or a submesh. An allocation in a set counts
 * on each of its members; a device may be in several sets. `label` may be null.
 */
ttmem_set ttmem_open_set(const ttmem_device* members, uint32_t count, const char* label);

/*
 * Gives a set the shape of a mesh: its members fill the rows one after another, in the order given to ttmem_open_set().
 * Has no effect unless rows x columns is the number of members.
 */
void ttmem_describe_mesh(ttmem_set set, uint32_t rows, uint32_t columns);

/* Frees everything in the set and closes it: device close. */
void ttmem_close_set(ttmem_set set);

/* Frees everything in the set, which stays open: bulk free. */
void ttmem_clear_set(ttmem_set set);

/* The caller reports nothing more, although the process goes on: its figures are inexact from now on. Closes no set,
 * and has no effect unless the process has a segment. */
void ttmem_stop_reporting(void);

/* ---- allocations ------------------------------------------------------------------------------------------------- */

/*
 * Records a live allocation, on each member of the set.
 *   kind       a ttmem_kind, with TTMEM_PLANNED, TTMEM_VIEW or TTMEM_PER_CORE where it is one
 *   requested  logical bytes on one device
 *   reserved   bytes that the allocator took for it on one device, in all banks, or TTMEM_UNKNOWN
 *   owner      the runtime's id of the buffer, shown unchanged
 */
ttmem_handle ttmem_allocate(ttmem_set set, uint32_t kind, uint64_t address, uint64_t requested,
                            uint64_t reserved, uint64_t owner);

/* A double free, or a free of an unknown handle, is counted and changes nothing. Any thread may free. */
void ttmem_free(ttmem_handle handle);

/* ---- names ------------------------------------------------------------------------------------------------------- */

/* Every allocation that this thread makes until the matching pop has this name, inside the names around it. */
void ttmem_scope_push(const char* name);
void ttmem_scope_pop(void);

/* Names one live allocation afterwards, inside the name it has: "decoder.3/kv_cache". */
void ttmem_tag(ttmem_handle handle, const char* name);

/*
 * The same for the allocation that owns this address on the device which the process calls `logical_id`, where the caller has no
 * handle. Returns 1, or 0 if there is none. It reads all live allocations: about 10 ms for a million. Makes no segment.
 */
int ttmem_tag_address(int32_t logical_id, uint32_t kind, uint64_t address, const char* name);

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
 * TTMEM_PLANNED, and TTMEM_DATAFLOW or TTMEM_SCRATCHPAD where it is one, else 0. A null `cores` means that they are not known: used then counts one core, marked inexact.
 */
ttmem_handle ttmem_allocate_cb(ttmem_set set, uint64_t program, uint64_t address, uint64_t size,
                               const ttmem_cores* cores, uint32_t flags);

/*
 * The kernel text of a program, by type. Each device has it once: loading it again on the same devices changes nothing and gives
 * the same handle, and loading it on more devices adds it to those that lack it.
 */
ttmem_handle ttmem_load_kernel(ttmem_set set, uint64_t program, ttmem_kind kernel_kind, uint64_t bytes);

/* Frees all circular buffers and kernels of a program that has ended, in every set. */
void ttmem_program_gone(uint64_t program);

/* ---- failures ---------------------------------------------------------------------------------------------------- */

/* An allocation that found no memory. */
typedef struct ttmem_out_of_memory {
    ttmem_set set;
    uint32_t kind;                  /* ttmem_kind of the request */
    uint64_t requested;             /* logical bytes on one device */
    uint64_t needed_per_bank;       /* bytes that the allocator would have taken in one bank */
    uint64_t free_per_bank;         /* free bytes in one bank */
    uint64_t largest_free_per_bank; /* bytes of the largest free block in one bank */
} ttmem_out_of_memory;

#define TTMEM_UNKNOWN_DIRECTION 2u

/* The same, with the rules that applied to the request. */
typedef struct ttmem_failed_request {
    ttmem_out_of_memory failure;
    uint64_t page_bytes; /* bytes of a page, as requested; 0 where unknown */
    uint32_t banks;      /* over which the pages were to be spread; 0 where unknown */
    uint32_t direction;  /* ttmem_direction, or TTMEM_UNKNOWN_DIRECTION */
} ttmem_failed_request;

/* The circular buffers of a program reach into an L1 buffer. */
typedef struct ttmem_cb_clash {
    ttmem_set set;
    uint16_t core_x, core_y; /* a core where they overlap */
    uint64_t program;        /* TTMEM_UNKNOWN where unknown */
    uint64_t requested;      /* bytes of the program's circular buffers on that core */
    uint64_t cb_end;         /* the address where the circular buffers end */
    uint64_t lowest_buffer;  /* the address of the lowest L1 buffer */
    uint64_t free_per_bank;  /* free bytes of L1 in one bank */
    ttmem_handle blocker;    /* the allocation at lowest_buffer; 0 where unknown */
} ttmem_cb_clash;

/* The circular buffers of a program reach beyond the end of L1: no buffer is in the way. */
typedef struct ttmem_cb_overflow {
    ttmem_set set;
    uint16_t core_x, core_y; /* a core where they do */
    uint64_t program;        /* TTMEM_UNKNOWN where unknown */
    uint64_t requested;      /* bytes of the program's circular buffers on that core */
    uint64_t cb_end;         /* the address where the circular buffers end */
    uint64_t l1_end;         /* the address where L1 ends */
    uint64_t free_per_bank;  /* free bytes of L1 in one bank */
} ttmem_cb_overflow;

/*
 * Each writes a card: what the bank held at this moment, at most one per second. Call it before anything is unwound. The call
 * takes milliseconds where very many allocations are live, and memory from the kernel while it runs.
 */
void ttmem_allocation_failed(const ttmem_out_of_memory* failure);
void ttmem_request_failed(const ttmem_failed_request* request);
void ttmem_cb_clashed(const ttmem_cb_clash* clash);
void ttmem_cb_overflowed(const ttmem_cb_overflow* overflow); /* counts as a clash */

/* ---- the process's own totals, and marks -------------------------------------------------------------------------- */

/*
 * Devices have the number that this process gives them (logical_id). These calls make no segment: before the first event of
 * the process they return 0.
 */

/* What this process has on one device in one kind of memory, over all sets. */
typedef struct ttmem_usage {
    uint64_t used;             /* reserved bytes now */
    uint64_t requested;        /* logical bytes now */
    uint64_t count;            /* live allocations that add bytes */
    uint64_t peak;             /* the highest `used` since the process began */
    uint64_t peak_since_reset; /* the highest `used` since the last ttmem_reset_peak() of the device */
    uint64_t capacity;         /* allocatable bytes; 0 where unknown */
    uint64_t reserved[2];      /* 0 */
} ttmem_usage;

/*
 * Fills `usage` and returns 1. Returns 0 and fills it with zeros if tracking is off or the device or kind is unknown. Peaks are
 * exact in the order in which the events were recorded. The three kinds of kernels have one peak: that of their sum.
 */
int ttmem_own_usage(int32_t logical_id, uint32_t kind, ttmem_usage* usage);

/*
 * Begins `peak_since_reset` anew with what is in use now, for all kinds of one device, or of all devices if logical_id is -1.
 * Returns 1, or 0 if tracking is off or the device is unknown. `peak` does not change.
 */
int ttmem_reset_peak(int32_t logical_id);

/*
 * Marks this moment, such as the end of a step: what each name holds now is kept under `name` in the segment, so that
 * marks can be compared. A name may be used any number of times; the first 8 and the last 56 marks of a process are
 * kept. The call reads all live allocations, which takes about 20 ms for a million. Returns 1, or 0 if it was not kept.
 */
int ttmem_mark(const char* name);

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
