// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "allocator/geometry.hpp"

// The simulated hardware: chips and boards. The place of each pool in a bank is the allocator's (allocator/geometry.hpp).
namespace ttmem::sim {

using allocator::MemoryGeometry;
using allocator::PoolGeometry;
using allocator::PoolKind;
using allocator::RegionSizes;

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

    bool operator==(const ArchGeometry&) const = default;
};

const ArchGeometry& arch_geometry(Arch arch);

// A board, or a host with several boards: the number of chips, their mesh, and what harvesting left of each chip.
struct Board {
    std::string name;
    std::string card;  // card type of each chip, as the driver names it
    Arch arch = Arch::wormhole_b0;
    uint32_t chips = 0;
    uint32_t mesh_rows = 0;
    uint32_t mesh_cols = 0;
    uint32_t dram_banks = 0;
    Grid compute_grid;
    std::vector<int> members;  // the chips of the mesh in row-major order
    ArchGeometry chip = arch_geometry(arch);

    bool operator==(const Board&) const = default;
};

std::span<const Board> boards();
const Board* find_board(std::string_view name);

// Made up, the same in every run, and unique over all chips of the boards of the table.
uint64_t asic_id(const Board& board, int chip);

// Throws std::invalid_argument if a region leaves no room for the pool that contains it.
MemoryGeometry memory_geometry(const Board& board, const RegionSizes& regions);

}  // namespace ttmem::sim
