// SPDX-License-Identifier: Apache-2.0
#pragma once

// The byte layout of the region that stock tt-metal keeps per chip in /dev/shm/tt_device_<ASIC id>_memory. It is read
// and never written. Little endian, no magic; only the size and the version identify it.
//
//     0      header        version, ids, and totals that are not corrected after a crash
//     88     16 chips      of 48 bytes
//     856    64 processes  of 120 bytes
//     8536   init state    version 4 only; version 3 has zeros from here on
//     8576   end
//
// Known defects of its writer, and how they are handled:
//
//     slots of killed processes stay for ever      a slot counts if its process lives and is not younger than it
//     totals and reference count include the dead  they are ignored; totals are sums over the slots that count
//     cb holds the value of the last writer        it is never shown, neither as a figure nor as 0
//     counters fall below zero and wrap            a figure that no device can hold is absent, and this is reported
//     no snapshot of a slot or of the region       settle.hpp
//     a file is created first and filled later     a region with version 0, or a state other than ready, is skipped
//     sizes are logical, not reserved              they are reported as requested bytes only
//     only the thread that opened the device       not detectable: every figure may be too low
//       is tracked
//     no capacity, no peak, no address             absent
//     pids are of the writer's namespace           a slot whose pid is another process here is ignored
//     any writer may name any process              a slot of another user's process is a claim (regions.hpp)

#include <bit>
#include <cstddef>
#include <cstdint>

namespace ttmem::sources::stock_region::layout {

static_assert(std::endian::native == std::endian::little, "the region is little endian, and so is this code");

constexpr uint32_t kVersion3 = 3;
constexpr uint32_t kVersion4 = 4;
constexpr uint32_t kReady = 0x52454459;
constexpr int32_t kBeingReleased = -1;  // a pid of version 4; no process has a pid of 0 or less
constexpr uint32_t kUnusedChip = 0xffffffff;

constexpr size_t kChips = 16;
constexpr size_t kSlots = 64;
constexpr size_t kNameBytes = 64;

struct SlotFigures {
    uint64_t dram, l1, l1_small, trace, cb;
};

struct Chip {
    uint32_t id;
    uint32_t is_remote;
    SlotFigures figures;
};

struct SlotLayout {
    int32_t pid;
    uint32_t unused;
    SlotFigures figures;
    uint64_t last_update_ns;  // since the epoch
    char name[kNameBytes];    // may lack the terminating 0
};

struct RegionLayout {
    uint32_t version;
    uint32_t active_processes;
    uint64_t last_update_ns;
    uint32_t references;
    uint32_t unused1;
    uint64_t board_serial;
    uint64_t asic_id;
    uint32_t logical_id;  // of the last process that attached
    uint32_t unused2;
    SlotFigures totals;
    Chip chips[kChips];
    SlotLayout slots[kSlots];
    uint32_t init_state;  // version 4 only
    unsigned char unused3[36];
};

static_assert(sizeof(SlotFigures) == 40 && sizeof(Chip) == 48 && sizeof(SlotLayout) == 120);
static_assert(offsetof(Chip, is_remote) == 4 && offsetof(Chip, figures) == 8);
static_assert(offsetof(SlotLayout, figures) == 8 && offsetof(SlotLayout, last_update_ns) == 48 &&
              offsetof(SlotLayout, name) == 56);
static_assert(offsetof(RegionLayout, active_processes) == 4 && offsetof(RegionLayout, last_update_ns) == 8);
static_assert(offsetof(RegionLayout, references) == 16 && offsetof(RegionLayout, board_serial) == 24);
static_assert(offsetof(RegionLayout, asic_id) == 32 && offsetof(RegionLayout, logical_id) == 40);
static_assert(offsetof(RegionLayout, totals) == 48 && offsetof(RegionLayout, chips) == 88 &&
              offsetof(RegionLayout, slots) == 856);
static_assert(offsetof(RegionLayout, init_state) == 8536 && sizeof(RegionLayout) == 8576);

constexpr size_t kRegionBytes = sizeof(RegionLayout);

}  // namespace ttmem::sources::stock_region::layout
