// SPDX-License-Identifier: Apache-2.0
#include "allocator/free_list.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <map>

namespace ttmem::allocator {
namespace {

TEST(FreeList, BottomUpTakesTheLowEndOfTheLowestBlockThatFits) {
    FreeList list(100, 1000);
    EXPECT_EQ(list.allocate(64, true), 100u);
    EXPECT_EQ(list.allocate(200, true), 164u);
    EXPECT_EQ(list.allocate(64, true), 364u);
    ASSERT_TRUE(list.release(100));
    EXPECT_EQ(list.allocate(80, true), 428u) << "80 bytes do not fit in the hole of 64";
    EXPECT_EQ(list.allocate(32, true), 100u);
}

TEST(FreeList, TopDownTakesTheHighEndOfTheHighestBlockThatFits) {
    FreeList list(0, 1000);
    EXPECT_EQ(list.allocate(100, false), 900u);
    EXPECT_EQ(list.allocate(100, false), 800u);
    ASSERT_TRUE(list.release(900));
    EXPECT_EQ(list.allocate(60, false), 940u);
    EXPECT_EQ(list.allocate(60, false), 740u) << "40 bytes are left above, which is too little";
}

TEST(FreeList, FreeNeighboursBecomeOneAtOnce) {
    FreeList list(0, 300);
    for (const uint64_t expected : {0u, 100u, 200u}) {
        EXPECT_EQ(list.allocate(100, true), expected);
    }
    EXPECT_TRUE(list.release(0));
    EXPECT_TRUE(list.release(200));
    EXPECT_EQ(list.blocks().size(), 3u);
    EXPECT_TRUE(list.release(100));
    EXPECT_EQ(list.blocks(), (std::vector<BankBlock>{{0, 300, false}}));
}

TEST(FreeList, NothingIsReleasedTwice) {
    FreeList list(0, 300);
    EXPECT_EQ(list.allocate(100, true), 0u);
    EXPECT_TRUE(list.release(0));
    EXPECT_FALSE(list.release(0));
    EXPECT_FALSE(list.release(77));
    EXPECT_EQ(list.statistics(), (PoolStatistics{300, 0, 300, 300}));
}

TEST(FreeList, AnEmptyPoolAndAnEmptyRequestGiveNothing) {
    FreeList empty(500, 0);
    EXPECT_EQ(empty.allocate(1, true), std::nullopt);
    EXPECT_EQ(empty.statistics(), (PoolStatistics{}));
    EXPECT_TRUE(empty.blocks().empty());
    FreeList list(0, 300);
    EXPECT_EQ(list.allocate(0, true), std::nullopt);
}

// What must hold after every call, whatever the calls were.
void check_invariants(const FreeList& list, uint64_t base, uint64_t size) {
    uint64_t at = base;
    PoolStatistics counted{.size = size};
    bool previous_free = false;
    for (const BankBlock& block : list.blocks()) {
        RC_ASSERT(block.address == at);  // no overlap and no hole
        RC_ASSERT(block.size > 0u);
        RC_ASSERT(block.allocated || !previous_free);  // coalesced
        (block.allocated ? counted.allocated : counted.free) += block.size;
        if (!block.allocated) {
            counted.largest_free = std::max(counted.largest_free, block.size);
        }
        previous_free = !block.allocated;
        at += block.size;
    }
    RC_ASSERT(at == base + size);
    RC_ASSERT(counted.allocated + counted.free == size);
    RC_ASSERT(list.statistics() == counted);
}

TEST(FreeList, InvariantsHoldAfterThousandsOfRandomCalls) {
    const bool held = rc::check("no overlap, free + allocated = size, coalesced", [] {
        const auto base = *rc::gen::inRange<uint64_t>(0, 1 << 20) * 32;
        const auto size = *rc::gen::inRange<uint64_t>(1, 4096) * 32;
        FreeList list(base, size);
        std::map<uint64_t, uint64_t> live;
        const auto calls = *rc::gen::container<std::vector<uint64_t>>(
            300, rc::gen::resize(rc::kNominalSize, rc::gen::arbitrary<uint64_t>()));
        for (const uint64_t call : calls) {
            const uint64_t choice = call % 8;
            const uint64_t value = call / 8;
            if (choice < 3 && !live.empty()) {
                const auto victim = std::next(live.begin(), static_cast<ptrdiff_t>(value % live.size()));
                RC_ASSERT(list.release(victim->first));
                live.erase(victim);
            } else {
                const uint64_t wanted = (1 + value % (size / 32)) * 32 / (1 + value % 7);
                const uint64_t largest = list.statistics().largest_free;
                const auto address = list.allocate(wanted, choice % 2 == 0);
                // First fit finds a block exactly where one is large enough.
                RC_ASSERT(address.has_value() == (wanted != 0 && wanted <= largest));
                if (address) {
                    RC_ASSERT(live.emplace(*address, wanted).second);
                }
            }
            check_invariants(list, base, size);
        }
        uint64_t sum = 0;
        for (const auto& [address, bytes] : live) {
            sum += bytes;
        }
        RC_ASSERT(list.statistics().allocated == sum);
    });
    EXPECT_TRUE(held);
}

}  // namespace
}  // namespace ttmem::allocator
