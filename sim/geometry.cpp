// SPDX-License-Identifier: Apache-2.0
#include "sim/geometry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <stdexcept>

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

constexpr int kT3000Order[] = {4, 0, 2, 6, 5, 1, 3, 7};
constexpr int kBlackholeGalaxyOrder[] = {0,  1,  2,  3,  27, 26, 25, 24, 4, 5, 6,  7,  31, 30, 29, 28,
                                         12, 13, 14, 15, 23, 22, 21, 20, 8, 9, 10, 11, 19, 18, 17, 16};

// A board's index in this table is part of its ASIC ids: append new boards.
//   name, card, arch, chips, mesh, DRAM banks, compute grid, order of the chips in the mesh
constexpr std::array kBoards = {
    Board{"n150", "n150", Arch::wormhole_b0, 1, 1, 1, 12, {8, 8}, {}},
    Board{"n300", "n300", Arch::wormhole_b0, 2, 1, 2, 12, {8, 7}, {}},
    Board{"t3000", "n300", Arch::wormhole_b0, 8, 2, 4, 12, {8, 7}, kT3000Order},
    Board{"galaxy", "galaxy", Arch::wormhole_b0, 32, 8, 4, 12, {8, 9}, {}},
    Board{"p100", "p100", Arch::blackhole, 1, 1, 1, 7, {11, 10}, {}},
    Board{"p150", "p150", Arch::blackhole, 1, 1, 1, 8, {11, 10}, {}},
    Board{"p300", "p300", Arch::blackhole, 2, 1, 2, 8, {11, 10}, {}},
    Board{"4xp150", "p150", Arch::blackhole, 4, 2, 2, 8, {12, 10}, {}},
    Board{"8xp150", "p150", Arch::blackhole, 8, 2, 4, 8, {12, 10}, {}},
    Board{"blackhole_galaxy", "galaxy", Arch::blackhole, 32, 4, 8, 8, {12, 10}, kBlackholeGalaxyOrder},
};

// The runtime rounds the share of the trace region in one bank up to this.
constexpr uint64_t kTraceAlignment = 8192;

struct PoolWords {
    std::string_view name;
    std::string_view title;
};
constexpr PoolWords kPoolWords[kPoolCount] = {
    {"dram", "DRAM"}, {"l1", "L1"}, {"l1_small", "L1_SMALL"}, {"trace", "TRACE"}};

}  // namespace

std::string_view pool_name(Pool pool) { return kPoolWords[static_cast<size_t>(pool)].name; }

std::string_view pool_title(Pool pool) { return kPoolWords[static_cast<size_t>(pool)].title; }

std::optional<Pool> pool_from_name(std::string_view name) {
    for (const Pool pool : kPools) {
        if (pool_name(pool) == name) {
            return pool;
        }
    }
    return std::nullopt;
}

std::string_view arch_name(Arch arch) { return arch == Arch::wormhole_b0 ? "wormhole_b0" : "blackhole"; }

const ArchGeometry& arch_geometry(Arch arch) { return arch == Arch::wormhole_b0 ? kWormholeB0 : kBlackhole; }

std::vector<int> Board::members() const {
    if (!mesh_order.empty()) {
        return {mesh_order.begin(), mesh_order.end()};
    }
    std::vector<int> in_order(chips);
    std::iota(in_order.begin(), in_order.end(), 0);
    return in_order;
}

std::span<const Board> boards() { return kBoards; }

const Board* find_board(std::string_view name) {
    const auto* found = std::ranges::find(kBoards, name, &Board::name);
    return found == kBoards.end() ? nullptr : found;
}

uint64_t asic_id(const Board& board, int chip) {
    // The chip comes last, so that devices sorted by ASIC id stand in the order of their numbers.
    const Board* listed = find_board(board.name);
    const auto place = listed == nullptr ? kBoards.size() : static_cast<size_t>(listed - kBoards.data());
    constexpr uint64_t kSimulated = 0x51D0'0000'0000'0000;
    return kSimulated | (static_cast<uint64_t>(place + 1) << 16) | static_cast<uint64_t>(chip);
}

MemoryGeometry memory_geometry(const Board& board, const RegionSizes& regions) {
    const ArchGeometry& arch = arch_geometry(board.arch);
    const uint64_t dram_room = arch.dram_bank_size - arch.dram_base;
    const uint64_t l1_room = arch.l1_size - arch.l1_base;
    // Check the sizes before rounding: a size near 2^64 would wrap around to a small one.
    const uint64_t trace_share = divide_up(regions.trace, board.dram_banks);
    if (trace_share >= dram_room || round_up(trace_share, kTraceAlignment) >= dram_room) {
        throw std::invalid_argument(
            fmt::format("a trace region of {} B leaves nothing of the {} DRAM banks with {} B each",
                        regions.trace, board.dram_banks, dram_room));
    }
    if (regions.l1_small >= l1_room || round_up(regions.l1_small, arch.dram_alignment) >= l1_room) {
        throw std::invalid_argument(
            fmt::format("an L1_SMALL region of {} B leaves nothing of the {} B in each L1 bank",
                        regions.l1_small, l1_room));
    }
    const uint64_t trace = round_up(trace_share, kTraceAlignment);
    const uint64_t l1_small = round_up(regions.l1_small, arch.dram_alignment);

    const uint32_t cores = board.compute_grid.cores();
    MemoryGeometry memory;
    memory[Pool::dram] = {arch.dram_base,      dram_room - trace,   board.dram_banks,
                          arch.dram_alignment, arch.dram_alignment, true};
    memory[Pool::trace] = {arch.dram_bank_size - trace, trace, board.dram_banks, arch.dram_alignment,
                           arch.dram_alignment,         true};
    memory[Pool::l1] = {arch.l1_base,      l1_room - l1_small,  cores,
                        arch.l1_alignment, arch.dram_alignment, false};
    // With a region size of 0 the runtime makes no L1_SMALL banks, but it keeps the banks of an empty trace region.
    memory[Pool::l1_small] = {arch.l1_size - l1_small, l1_small, l1_small == 0 ? 0 : cores, arch.l1_alignment,
                              arch.dram_alignment,     false};
    return memory;
}

}  // namespace ttmem::sim
