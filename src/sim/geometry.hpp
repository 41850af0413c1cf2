// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// What the simulated hardware looks like: chips, boards, and where each pool of memory lies in a bank.
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
enum class Pool : std::uint8_t { kDram, kL1, kL1Small, kTrace };
inline constexpr Pool kPools[] = {Pool::kDram, Pool::kL1, Pool::kL1Small, Pool::kTrace};
inline constexpr std::size_t kPoolCount = 4;

// "dram", as in logs and JSON, and "DRAM", as in messages.
[[nodiscard]] std::string_view pool_name(Pool pool);
[[nodiscard]] std::string_view pool_title(Pool pool);
[[nodiscard]] std::optional<Pool> pool_from_name(std::string_view name);

enum class Arch : std::uint8_t { kWormholeB0, kBlackhole };
[[nodiscard]] std::string_view arch_name(Arch arch);

struct Grid {
    std::uint32_t x = 0;
    std::uint32_t y = 0;

    [[nodiscard]] constexpr std::uint32_t cores() const { return x * y; }
    bool operator==(const Grid&) const = default;
};

// What every chip of an architecture has in common.
struct ArchGeometry {
    std::uint64_t l1_size;
    std::uint64_t kernel_config_base;
    std::uint64_t kernel_config_size;
    std::uint64_t l1_base;
    std::uint32_t l1_alignment;
    std::uint64_t dram_bank_size;
    std::uint64_t dram_base;
    std::uint32_t dram_alignment;
    Grid physical_grid;
};

[[nodiscard]] const ArchGeometry& arch_geometry(Arch arch);

// A board, or a host full of them: how many chips, how they form a mesh, and what harvesting left of each chip.
struct Board {
    std::string_view name;
    std::string_view card;  // card type of each chip, as the driver names it
    Arch arch;
    std::uint32_t chips;
    std::uint32_t mesh_rows;
    std::uint32_t mesh_cols;
    std::uint32_t dram_banks;
    Grid compute_grid;
    std::span<const int> mesh_order;  // the chips in row-major order of the mesh; empty: 0, 1, 2 ...

    [[nodiscard]] std::vector<int> members() const;
};

[[nodiscard]] std::span<const Board> boards();
[[nodiscard]] const Board* find_board(std::string_view name);

// Made up, and the same in every run: no two chips of any two boards share one.
[[nodiscard]] std::uint64_t asic_id(const Board& board, int chip);

// One pool in one bank. All banks of a pool are alike and move in lockstep, so this describes every one of them.
struct PoolGeometry {
    std::uint64_t base = 0;
    std::uint64_t size = 0;  // allocatable bytes in a bank
    std::uint32_t banks = 0;
    std::uint32_t page_alignment = 1;
    std::uint32_t bank_alignment = 1;  // what is taken from a bank is a multiple of this
    bool bottom_up = true;

    [[nodiscard]] std::uint64_t end() const { return base + size; }
    [[nodiscard]] std::uint64_t capacity() const { return size * banks; }
};

// The regions that a process sets when it opens a device. Both are 0 by default.
struct RegionSizes {
    std::uint64_t l1_small = 0;  // bytes in each L1 bank
    std::uint64_t trace = 0;     // bytes over all DRAM banks together
};

struct MemoryGeometry {
    PoolGeometry pools[kPoolCount];

    [[nodiscard]] const PoolGeometry& operator[](Pool pool) const {
        return pools[static_cast<std::size_t>(pool)];
    }
    [[nodiscard]] PoolGeometry& operator[](Pool pool) { return pools[static_cast<std::size_t>(pool)]; }
};

// Throws std::invalid_argument where a region leaves no room for the pool it is cut from.
[[nodiscard]] MemoryGeometry memory_geometry(const Board& board, const RegionSizes& regions);

[[nodiscard]] constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t multiple) {
    return (value + multiple - 1) / multiple * multiple;
}
[[nodiscard]] constexpr std::uint64_t divide_up(std::uint64_t value, std::uint64_t divisor) {
    return value / divisor + (value % divisor != 0 ? 1 : 0);
}

}  // namespace ttmem::sim
