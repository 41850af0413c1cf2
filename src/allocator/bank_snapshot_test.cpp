// SPDX-License-Identifier: Apache-2.0
#include "allocator/bank_snapshot.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <map>

namespace ttmem::allocator {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// 100 to 1,100: free blocks of 100 at 100, 50 at 300, 200 at 500 and 300 at 800.
BankSnapshot example() { return *BankSnapshot::of(100, 1000, {{700, 100, 2}, {200, 100, 0}, {350, 150, 1}}); }

TEST(BankSnapshot, CountsTheGapsBetweenItsBlocks) {
    EXPECT_EQ(example().statistics(), (PoolStatistics{1000, 350, 650, 300}));
    EXPECT_EQ(BankSnapshot::of(100, 1000, {})->statistics(), (PoolStatistics{1000, 0, 1000, 1000}));
    EXPECT_EQ(BankSnapshot::of(0, 0, {})->statistics(), PoolStatistics{});
}

TEST(BankSnapshot, BlocksThatOverlapOrLieOutsideFollowOtherRules) {
    EXPECT_FALSE(BankSnapshot::of(100, 1000, {{200, 100}, {299, 10}}));
    EXPECT_FALSE(BankSnapshot::of(100, 1000, {{99, 10}}));
    EXPECT_FALSE(BankSnapshot::of(100, 1000, {{1099, 2}}));
    EXPECT_FALSE(BankSnapshot::of(100, 1000, {{200, UINT64_MAX}}));
    EXPECT_FALSE(BankSnapshot::of(100, 1000, {{UINT64_MAX, 1}}));
    EXPECT_FALSE(BankSnapshot::of(UINT64_MAX, 1000, {}));
    EXPECT_FALSE(BankSnapshot::of(100, 1000, {{200, 0}}));
    EXPECT_TRUE(BankSnapshot::of(100, 1000, {{100, 1000}}));
}

TEST(BankSnapshot, FindsTheAddressInTheDirectionOfTheRequest) {
    EXPECT_EQ(example().find(60, true), 100u);
    EXPECT_EQ(example().find(60, false), 1040u);
    EXPECT_EQ(example().find(150, true), 500u);
    EXPECT_EQ(example().find(301, true), std::nullopt);
    EXPECT_EQ(example().find(0, true), std::nullopt);
}

TEST(BankSnapshot, TheVerdictSaysWhichBytesAreMissing) {
    const PoolStatistics bank = example().statistics();
    EXPECT_EQ(judge(300, bank), FitVerdict::fits);
    EXPECT_EQ(judge(301, bank), FitVerdict::fragmented);
    EXPECT_EQ(judge(651, bank), FitVerdict::not_enough);
    EXPECT_EQ(judge(1001, bank), FitVerdict::too_big);
    EXPECT_EQ(short_by(300, bank), 0u);
    EXPECT_EQ(short_by(301, bank), 1u);
    EXPECT_EQ(short_by(660, bank), 10u);
    EXPECT_EQ(short_by(1007, bank), 7u);
}

TEST(BankSnapshot, FewOwnersMayCostMoreBytes) {
    // Two small blocks of two owners below one large block of a third.
    const auto bank = BankSnapshot::of(0, 400, {{100, 10, 0, 1}, {200, 10, 1, 2}, {300, 40, 2, 3}});
    EXPECT_THAT(bank->cheapest_to_free(200, true, 1, FreeCost::bytes),
                ElementsAre(BlocksToFree{0, 1, 10, 1, 0, true}));
    EXPECT_THAT(bank->cheapest_to_free(250, true, 1, FreeCost::bytes),
                ElementsAre(BlocksToFree{0, 2, 20, 2, 0, true}));
    const auto same = BankSnapshot::of(0, 400, {{100, 10, 0, 1}, {200, 10, 1, 2}, {300, 40, 2, 2}});
    EXPECT_THAT(same->cheapest_to_free(250, true, 1, FreeCost::owners),
                ElementsAre(BlocksToFree{1, 2, 50, 1, 110, true}));
}

TEST(BankSnapshot, APinnedBlockIsNeverFreed) {
    const auto bank = BankSnapshot::of(0, 400, {{100, 10, 0, 1}, {200, 10, 1, 2, true}, {300, 40, 2, 3}});
    EXPECT_THAT(bank->cheapest_to_free(150, true, 3),
                ElementsAre(BlocksToFree{0, 1, 10, 1, 0, true}, BlocksToFree{2, 1, 40, 1, 210, true}));
    EXPECT_THAT(bank->cheapest_to_free(250, true, 3), IsEmpty());
}

TEST(BankSnapshot, BlocksBelowAFloorMoveIfThereIsRoomAboveIt) {
    const auto bank = BankSnapshot::of(0, 400, {{100, 100, 0}, {300, 40, 1}});
    EXPECT_TRUE(bank->can_move_above(100)) << "none is below";
    EXPECT_TRUE(bank->can_move_above(200)) << "100 are free at 200";
    EXPECT_TRUE(bank->can_move_above(150)) << "the part above the floor and what is free behind it";
    EXPECT_FALSE(bank->can_move_above(210));
}

TEST(BankSnapshot, TheCheapestNeighboursToFreeComeFirst) {
    const BankSnapshot bank = example();
    // Only the block at 700 makes 600 bytes of its gaps; that at 350 makes 400, that at 200 makes 250.
    EXPECT_THAT(bank.cheapest_to_free(350, true, 3),
                ElementsAre(BlocksToFree{2, 1, 100, 1, 500, true}, BlocksToFree{1, 1, 150, 1, 300, true}));
    EXPECT_THAT(bank.cheapest_to_free(350, false, 3),
                ElementsAre(BlocksToFree{2, 1, 100, 1, 750, true}, BlocksToFree{1, 1, 150, 1, 350, true}));
    EXPECT_THAT(bank.cheapest_to_free(350, true, 1), ElementsAre(BlocksToFree{2, 1, 100, 1, 500, true}));
    EXPECT_THAT(bank.cheapest_to_free(1000, true, 3), ElementsAre(BlocksToFree{0, 3, 350, 1, 100, false}));
    EXPECT_THAT(bank.cheapest_to_free(1001, true, 3), IsEmpty()) << "larger than the bank";
    EXPECT_THAT(bank.cheapest_to_free(300, true, 3), IsEmpty()) << "it fits";
}

// The free block at the end from which a region does not allocate is the one that grows.
TEST(BankSnapshot, ALargerRegionGrowsAtTheOtherEnd) {
    EXPECT_EQ(example().size_that_fits(301, true, 1), 1001u) << "300 are free at the high end";
    EXPECT_EQ(example().size_that_fits(301, false, 1), 1201u) << "100 are free at the low end";
    EXPECT_EQ(example().size_that_fits(301, false, 32), 1216u);
    EXPECT_EQ(example().size_that_fits(300, true, 1), std::nullopt) << "it fits as it is";
    const auto full_at_both_ends = BankSnapshot::of(0, 300, {{0, 50}, {250, 50}});
    EXPECT_EQ(full_at_both_ends->size_that_fits(201, true, 1), 501u);
    EXPECT_EQ(full_at_both_ends->size_that_fits(201, false, 1), 501u);
    EXPECT_EQ(BankSnapshot::of(0, 0, {})->size_that_fits(33, true, 32), 64u);
    EXPECT_EQ(example().size_that_fits(UINT64_MAX, true, 1), std::nullopt);
    EXPECT_EQ(BankSnapshot::of(0, 10, {})->size_that_fits(UINT64_MAX, true, 32), std::nullopt);
}

// All sets of neighbours, tried one by one.
std::optional<uint64_t> cheapest_by_trying(const BankSnapshot& bank, uint64_t base, uint64_t size,
                                           uint64_t wanted) {
    std::optional<uint64_t> cheapest;
    for (size_t first = 0; first < bank.blocks().size(); ++first) {
        for (size_t last = first; last < bank.blocks().size(); ++last) {
            std::vector<LiveBlock> kept;
            uint64_t bytes = 0;
            for (size_t i = 0; i < bank.blocks().size(); ++i) {
                const bool is_freed = i >= first && i <= last;
                bytes += is_freed ? bank.blocks()[i].size : 0;
                if (!is_freed) {
                    kept.push_back(bank.blocks()[i]);
                }
            }
            if (BankSnapshot::of(base, size, kept)->find(wanted, true)) {
                cheapest = std::min(cheapest.value_or(bytes), bytes);
            }
        }
    }
    return cheapest;
}

TEST(BankSnapshot, AgreesWithTheAllocatorInAnyState) {
    const bool held = rc::check("find and statistics equal those of the free list", [] {
        constexpr uint64_t kBase = 96;
        constexpr uint64_t kSize = 64 * 32;
        FreeList list(kBase, kSize);
        std::map<uint64_t, uint64_t> live;
        const auto calls = *rc::gen::container<std::vector<uint64_t>>(
            40, rc::gen::resize(rc::kNominalSize, rc::gen::arbitrary<uint64_t>()));
        for (const uint64_t call : calls) {
            const uint64_t wanted = (1 + (call >> 8) % 12) * 32;
            const bool bottom_up = (call >> 20) % 2 == 0;
            std::vector<LiveBlock> blocks;
            for (const auto& [address, bytes] : live) {
                blocks.push_back({address, bytes});
            }
            const auto bank = BankSnapshot::of(kBase, kSize, blocks);
            RC_ASSERT(bank.has_value());
            RC_ASSERT(bank->statistics() == list.statistics());
            const auto predicted = bank->find(wanted, bottom_up);
            const auto proposals = bank->cheapest_to_free(wanted, bottom_up, 3);
            RC_ASSERT(proposals.empty() == (predicted || live.empty()));
            if (!proposals.empty()) {
                RC_ASSERT(proposals.front().bytes == cheapest_by_trying(*bank, kBase, kSize, wanted));
            }
            for (const BlocksToFree& proposal : proposals) {
                FreeList after(list);
                for (size_t i = 0; i < proposal.count; ++i) {
                    RC_ASSERT(after.release(bank->blocks()[proposal.first + i].address));
                }
                RC_ASSERT(after.allocate(wanted, bottom_up) == proposal.address);
            }
            if (call % 3 == 0 && !live.empty()) {
                const auto victim = std::next(live.begin(), static_cast<ptrdiff_t>(call / 3 % live.size()));
                RC_ASSERT(list.release(victim->first));
                live.erase(victim);
                continue;
            }
            const auto address = list.allocate(wanted, bottom_up);
            RC_ASSERT(address == predicted);
            if (address) {
                live.emplace(*address, wanted);
            }
        }
    });
    EXPECT_TRUE(held);
}

}  // namespace
}  // namespace ttmem::allocator
