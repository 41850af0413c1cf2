// SPDX-License-Identifier: Apache-2.0
#include "sim/geometry.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace ttmem::sim {
namespace {

constexpr ArchGeometry kWormholeB0{
    .l1_size = 1'499'136,
    .kernel_config_base = 35'008,
    .kernel_config_size = 70'656,
    .l1_base = 105'664,
    .l1_alignment = 16,
    .dram_bank_size = 1'073'741'824,
    .dram_base = 1'048'640,
    .dram_alignment = 32,
    .physical_grid = {8, 10},
};

constexpr ArchGeometry kBlackhole{
    .l1_size = 1'572'864,
    .kernel_config_base = 40'960,
    .kernel_config_size = 70'656,
    .l1_base = 111'616,
    .l1_alignment = 16,
    .dram_bank_size = 4'278'190'080,
    .dram_base = 1'048'704,
    .dram_alignment = 64,
    .physical_grid = {14, 10},
};

// The kernel config ring ends where the allocator begins. This catches a typing error in either table.
static_assert(kWormholeB0.kernel_config_base + kWormholeB0.kernel_config_size == kWormholeB0.l1_base);
static_assert(kBlackhole.kernel_config_base + kBlackhole.kernel_config_size == kBlackhole.l1_base);

std::vector<int> in_order(uint32_t chips) {
    std::vector<int> members(chips);
    std::iota(members.begin(), members.end(), 0);
    return members;
}

// A board's index in this table is part of its ASIC ids: append new boards.
//   name, card, arch, chips, mesh, DRAM banks, compute grid, chips of the mesh
const std::vector<Board>& table() {
    static const std::vector<Board> boards = {
        {"n150", "n150", Arch::wormhole_b0, 1, 1, 1, 12, {8, 8}, in_order(1)},
        {"n300", "n300", Arch::wormhole_b0, 2, 1, 2, 12, {8, 7}, in_order(2)},
        {"t3000", "n300", Arch::wormhole_b0, 8, 2, 4, 12, {8, 7}, {4, 0, 2, 6, 5, 1, 3, 7}},
        {"galaxy", "galaxy", Arch::wormhole_b0, 32, 8, 4, 12, {8, 9}, in_order(32)},
        {"p100", "p100", Arch::blackhole, 1, 1, 1, 7, {11, 10}, in_order(1)},
        {"p150", "p150", Arch::blackhole, 1, 1, 1, 8, {11, 10}, in_order(1)},
        {"p300", "p300", Arch::blackhole, 2, 1, 2, 8, {11, 10}, in_order(2)},
        {"4xp150", "p150", Arch::blackhole, 4, 2, 2, 8, {12, 10}, in_order(4)},
        {"8xp150", "p150", Arch::blackhole, 8, 2, 4, 8, {12, 10}, in_order(8)},
        {"blackhole_galaxy", "galaxy", Arch::blackhole, 32, 4, 8, 8, {12, 10}, {0,  1,  2,  3,  27, 26, 25,
                                                                                24, 4,  5,  6,  7,  31, 30,
                                                                                29, 28, 12, 13, 14, 15, 23,
                                                                                22, 21, 20, 8,  9,  10, 11,
                                                                                19, 18, 17, 16}},
    };
    return boards;
}

}  // namespace

std::string_view arch_name(Arch arch) { return arch == Arch::wormhole_b0 ? "wormhole_b0" : "blackhole"; }

const ArchGeometry& arch_geometry(Arch arch) { return arch == Arch::wormhole_b0 ? kWormholeB0 : kBlackhole; }

std::span<const Board> boards() { return table(); }

const Board* find_board(std::string_view name) {
    const auto found = std::ranges::find(table(), name, &Board::name);
    return found == table().end() ? nullptr : &*found;
}

uint64_t asic_id(const Board& board, int chip) {
    // The chip comes last, so that devices sorted by ASIC id stand in the order of their numbers.
    const Board* listed = find_board(board.name);
    const auto place = listed == nullptr ? table().size() : static_cast<size_t>(listed - table().data());
    constexpr uint64_t kSimulated = 0x51D0'0000'0000'0000;
    return kSimulated | (static_cast<uint64_t>(place + 1) << 16) | static_cast<uint64_t>(chip);
}

MemoryGeometry memory_geometry(const Board& board, const RegionSizes& regions) {
    const ArchGeometry& chip = board.chip;
    return allocator::cut_regions({.l1_size = chip.l1_size,
                                   .l1_base = chip.l1_base,
                                   .cores = board.compute_grid.cores(),
                                   .dram_bank_size = chip.dram_bank_size,
                                   .dram_base = chip.dram_base,
                                   .dram_banks = board.dram_banks,
                                   .l1_alignment = chip.l1_alignment,
                                   .dram_alignment = chip.dram_alignment},
                                  regions);
}

}  // namespace ttmem::sim
