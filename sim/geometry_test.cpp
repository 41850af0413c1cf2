// SPDX-License-Identifier: Apache-2.0
#include "sim/geometry.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>

namespace ttmem::sim {
namespace {

TEST(Geometry, CapacitiesAreThoseOfTheFacts) {
    const MemoryGeometry n300 = memory_geometry(*find_board("n300"), {});
    EXPECT_EQ(n300[PoolKind::l1].capacity(), 78'034'432u);
    EXPECT_EQ(n300[PoolKind::dram].capacity(), 12'872'318'208u);
    EXPECT_EQ(n300[PoolKind::l1].size, 1'393'472u);
    EXPECT_EQ(memory_geometry(*find_board("p100"), {})[PoolKind::l1].size, 1'461'248u);
}

TEST(Geometry, EveryBoardHasTheCoresAndBanksOfTheFacts) {
    struct Expected {
        const char* name;
        uint32_t chips;
        uint32_t l1_banks;
        uint32_t dram_banks;
    };
    for (const Expected& expected :
         {Expected{"n150", 1, 64, 12}, Expected{"n300", 2, 56, 12}, Expected{"t3000", 8, 56, 12},
          Expected{"galaxy", 32, 72, 12}, Expected{"p100", 1, 110, 7}, Expected{"p150", 1, 110, 8},
          Expected{"p300", 2, 110, 8}, Expected{"4xp150", 4, 120, 8}, Expected{"8xp150", 8, 120, 8},
          Expected{"blackhole_galaxy", 32, 120, 8}}) {
        const Board* board = find_board(expected.name);
        ASSERT_NE(board, nullptr) << expected.name;
        EXPECT_EQ(board->chips, expected.chips) << expected.name;
        EXPECT_EQ(board->compute_grid.cores(), expected.l1_banks) << expected.name;
        EXPECT_EQ(board->dram_banks, expected.dram_banks) << expected.name;
    }
    EXPECT_EQ(find_board("n151"), nullptr);
}

TEST(Geometry, EveryBoardsMeshHoldsEachChipOnce) {
    for (const Board& board : boards()) {
        std::vector<int> members = board.members;
        EXPECT_EQ(members.size(), board.mesh_rows * board.mesh_cols) << board.name;
        std::ranges::sort(members);
        for (uint32_t chip = 0; chip < board.chips; ++chip) {
            EXPECT_EQ(members.at(chip), static_cast<int>(chip)) << board.name;
        }
    }
}

TEST(Geometry, NoTwoChipsShareAnAsicId) {
    std::set<uint64_t> seen;
    for (const Board& board : boards()) {
        for (uint32_t chip = 0; chip < board.chips; ++chip) {
            EXPECT_TRUE(seen.insert(asic_id(board, static_cast<int>(chip))).second)
                << board.name << " " << chip;
        }
    }
    EXPECT_FALSE(seen.contains(0)) << "0 means that an ASIC id is not known";
}

}  // namespace
}  // namespace ttmem::sim
