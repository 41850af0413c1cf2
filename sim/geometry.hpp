// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// The simulated hardware: chips, boards, and the place of each pool in a bank.
//
//     DRAM bank                                     L1 of one core
//     +--------------------------+ bank size        +--------------------------+ l1_size
//     | TRACE (if set at open)   |                  | L1_SMALL (if set at open)|
//     +--------------------------+                  +--------------------------+
//     | DRAM pool                |                  | L1 pool                  |
//     |                          |                  |  (circular buffers grow  |
//     |                          |                  |   from its base upwards) |
//     +--------------------------+ dram_base        +--------------------------+ l1_base
//     | reserved                 |                  | kernel config ring       |
//     +--------------------------+ 0                | firmware, mailboxes      |
//                                                   +--------------------------+ 0
namespace ttmem::sim {

// The four pools that buffers come from. Circular buffers and kernels have no pool.
enum class Pool : uint8_t { dram, l1, l1_small, trace };
inline constexpr Pool kPools[] = {Pool::dram, Pool::l1, Pool::l1_small, Pool::trace};
inline constexpr size_t kPoolCount = 4;

// "dram", as in logs and JSON, and "DRAM", as in messages.
std::string_view pool_name(Pool pool);
std::string_view pool_title(Pool pool);
std::optional<Pool> pool_from_name(std::string_view name);

enum class Arch : uint8_t { wormhole_b0, blackhole };
std::string_view arch_name(Arch arch);

struct Grid {
    uint32_t x = 0;
    uint32_t y = 0;

    constexpr uint32_t cores() const { return x * y; }
    bool operator==(const Grid&) const = default;
};

// Properties that all chips of an architecture share.
struct ArchGeometry {
    uint64_t l1_size;
    uint64_t kernel_config_base;
    uint64_t kernel_config_size;
    uint64_t l1_base;
    uint32_t l1_alignment;
    uint64_t dram_bank_size;
    uint64_t dram_base;
    uint32_t dram_alignment;
    Grid physical_grid;
};

const ArchGeometry& arch_geometry(Arch arch);

// A board, or a host with several boards: the number of chips, their mesh, and what harvesting left of each chip.
struct Board {
    std::string_view name;
    std::string_view card;  // card type of each chip, as the driver names it
    Arch arch;
    uint32_t chips;
    uint32_t mesh_rows;
    uint32_t mesh_cols;
    uint32_t dram_banks;
    Grid compute_grid;
    std::span<const int> mesh_order;  // the chips in row-major order of the mesh; empty: 0, 1, 2 ...

    std::vector<int> members() const;
};

std::span<const Board> boards();
const Board* find_board(std::string_view name);

// Made up, the same in every run, and unique over all chips of all boards.
uint64_t asic_id(const Board& board, int chip);

// One pool in one bank. All banks of a pool are identical and change in lockstep, so this describes every bank.
struct PoolGeometry {
    uint64_t base = 0;
    uint64_t size = 0;  // allocatable bytes per bank
    uint32_t banks = 0;
    uint32_t page_alignment = 1;
    uint32_t bank_alignment = 1;  // every reservation in a bank is a multiple of this
    bool bottom_up = true;

    uint64_t end() const { return base + size; }
    uint64_t capacity() const { return size * banks; }
};

// The regions that a process sets when it opens a device. Both are 0 by default.
struct RegionSizes {
    uint64_t l1_small = 0;  // bytes in each L1 bank
    uint64_t trace = 0;     // bytes over all DRAM banks together
};

struct MemoryGeometry {
    PoolGeometry pools[kPoolCount];

    const PoolGeometry& operator[](Pool pool) const { return pools[static_cast<size_t>(pool)]; }
    PoolGeometry& operator[](Pool pool) { return pools[static_cast<size_t>(pool)]; }
};

// Throws std::invalid_argument if a region leaves no room for the pool that contains it.
MemoryGeometry memory_geometry(const Board& board, const RegionSizes& regions);

constexpr uint64_t round_up(uint64_t value, uint64_t multiple) {
    return (value + multiple - 1) / multiple * multiple;
}
constexpr uint64_t divide_up(uint64_t value, uint64_t divisor) {
    return value / divisor + (value % divisor != 0 ? 1 : 0);
}

}  // namespace ttmem::sim
