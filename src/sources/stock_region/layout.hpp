// SPDX-License-Identifier: Apache-2.0
#pragma once

// The region that stock tt-metal keeps for each chip, as its bytes lie in /dev/shm/tt_device_<ASIC id>_memory. We read it and
// never write it. Little endian, no magic; nothing but its size and its version says what it is.
//
//     0      header        version, ids, and totals that nobody corrects after a crash
//     88     16 chips      of 48 bytes
//     856    64 processes  of 120 bytes
//     8536   init state    version 4 only; version 3 has zeros from here on
//     8576   end
//
// What is known to be wrong with its writer, and what we do about it:
//
//     slots of killed processes stay for ever      a slot counts while its process lives and is not younger than the slot
//     totals and reference count keep the dead     they are ignored; totals are sums over the slots that count
//     cb is whatever the last writer had           it is never shown, neither as a figure nor as 0
//     counters fall below zero and wrap            a figure that no device can hold is absent, and that is told
//     no snapshot of a slot or of the region       settle.hpp
//     a file is made first and filled later        a version of 0, or a state that is not ready, is not there yet
//     sizes are logical, not reserved              they are given as requested bytes, and as nothing else
//     only the thread that opened the device       can't be seen from here: every figure may be too low
//       is seen
//     no capacity, no peak, no address             absent
//     a pid as its writer's namespace counts       a slot whose number is another process's here is nobody's

#include <bit>
#include <cstddef>
#include <cstdint>

namespace ttmem::sources::stock_region::layout {

static_assert(std::endian::native == std::endian::little, "the region is little endian, and so is this code");

constexpr uint32_t kVersion3 = 3;
constexpr uint32_t kVersion4 = 4;
constexpr uint32_t kReady = 0x52454459;
constexpr int32_t kBeingReleased = -1;  // a pid of version 4; every pid up to 0 is no process
constexpr uint32_t kUnusedChip = 0xffffffff;

constexpr size_t kChips = 16;
constexpr size_t kSlots = 64;
constexpr size_t kNameBytes = 64;

struct Figures {
    uint64_t dram, l1, l1_small, trace, cb;
};

struct Chip {
    uint32_t id;
    uint32_t is_remote;
    Figures figures;
};

struct Slot {
    int32_t pid;
    uint32_t unused;
    Figures figures;
    uint64_t last_update_ns;  // since the epoch
    char name[kNameBytes];    // may lack its end
};

struct Region {
    uint32_t version;
    uint32_t active_processes;
    uint64_t last_update_ns;
    uint32_t references;
    uint32_t unused1;
    uint64_t board_serial;
    uint64_t asic_id;
    uint32_t logical_id;  // of the last one that attached
    uint32_t unused2;
    Figures totals;
    Chip chips[kChips];
    Slot slots[kSlots];
    uint32_t init_state;  // version 4
    unsigned char unused3[36];
};

static_assert(sizeof(Figures) == 40 && sizeof(Chip) == 48 && sizeof(Slot) == 120);
static_assert(offsetof(Chip, is_remote) == 4 && offsetof(Chip, figures) == 8);
static_assert(offsetof(Slot, figures) == 8 && offsetof(Slot, last_update_ns) == 48 &&
              offsetof(Slot, name) == 56);
static_assert(offsetof(Region, active_processes) == 4 && offsetof(Region, last_update_ns) == 8);
static_assert(offsetof(Region, references) == 16 && offsetof(Region, board_serial) == 24);
static_assert(offsetof(Region, asic_id) == 32 && offsetof(Region, logical_id) == 40);
static_assert(offsetof(Region, totals) == 48 && offsetof(Region, chips) == 88 &&
              offsetof(Region, slots) == 856);
static_assert(offsetof(Region, init_state) == 8536 && sizeof(Region) == 8576);

constexpr size_t kRegionBytes = sizeof(Region);

}  // namespace ttmem::sources::stock_region::layout
