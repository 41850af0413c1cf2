// SPDX-License-Identifier: Apache-2.0
#include "census/failure_card.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "census/failures.hpp"
#include "census/segment_test_support.hpp"

namespace ttmem::census {
namespace {

using segment::AllocationKind;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class FailureCards : public testing::Test {
protected:
    void SetUp() override {
        segment_.add_device(small_chip(0x10, 0));
        segment_.add_set(1);
        census_ = census_of(segment_.process(7));
        head_.number = 1;
        head_.failure.ticks = 100;
        head_.failure.kind = static_cast<uint8_t>(AllocationKind::dram);
        head_.failure.members = 1;
        head_.failure.requested = 2400;
        head_.failure.needed_per_bank = 600;
        head_.failure.free_per_bank = 800;
        head_.failure.largest_free_per_bank = 700;
        head_.failure.card = 1;
        head_.bank_base = 0x1000;
        head_.bank_size = 1000;
        head_.banks = 4;
        head_.alignment = 32;
        head_.page_bytes = 64;
        head_.request_banks = 4;
        head_.request_direction = TTMEM_TOP_DOWN;
    }

    void add_block(uint64_t address, uint64_t reserved, uint32_t name, uint64_t ticks,
                   AllocationKind kind = AllocationKind::dram, uint64_t owner = 0, uint16_t cores = 0) {
        segment::Allocation a = allocation(0, kind, address, reserved, reserved);
        a.name = name;
        a.ticks = ticks;
        a.owner = owner;
        a.core_set = cores;
        blocks_.push_back(a);
    }

    // Writes the card, and the failure where it has an entry of its own.
    void write(bool with_failure = true) {
        auto* words =
            &segment_.entry<segment::Word>(segment::RegionId::cards, segment::card_index(head_.number));
        const auto put = [&](size_t word, const auto& object) {
            uint64_t values[sizeof object / 8];
            std::memcpy(values, &object, sizeof object);
            for (size_t i = 0; i < sizeof object / 8; ++i) {
                words[word + i].store(values[i]);
            }
        };
        head_.blocks = static_cast<uint32_t>(blocks_.size());
        head_.live = live_ == 0 ? head_.blocks : live_;
        head_.gaps = static_cast<uint32_t>(gaps_.size());
        head_.sums = static_cast<uint32_t>(sums_.size());
        head_.events = static_cast<uint32_t>(events_.size());
        put(1, head_);
        for (size_t i = 0; i < gaps_.size(); ++i) {
            put(segment::kCardGapsWord + i * 2, gaps_[i]);
        }
        for (size_t i = 0; i < sums_.size(); ++i) {
            put(segment::kCardSumsWord + i * 2, sums_[i]);
        }
        for (size_t i = 0; i < events_.size(); ++i) {
            uint64_t record[segment::kRecordWords];
            segment::encode(events_[i], record);
            put(segment::kCardEventsWord + i * segment::kRecordWords, record);
        }
        for (size_t i = 0; i < blocks_.size(); ++i) {
            uint64_t payload[segment::kLedgerPayloadWords];
            segment::encode(blocks_[i], 1, payload);
            put(segment::kCardBlocksWord + i * segment::kCardBlockWords + 1, payload);
        }
        words[0].store(1);
        segment_.header().cards.store(head_.number);
        segment_.header().failures[head_.failure.type] = 1;
        if (with_failure) {
            uint64_t payload[segment::FailureSlot::kPayloadWords];
            std::memcpy(payload, &head_.failure, sizeof payload);
            segment_
                .entry<segment::FailureSlot>(
                    segment::RegionId::failures,
                    segment::failure_index(static_cast<FailureType>(head_.failure.type), 0))
                .publish(payload, 1);
        }
    }

    FailureFigures only(const FailureQuery& query = {}) {
        const FailurePage page = *list_failures(census_, query);
        EXPECT_THAT(page.failures, SizeIs(1));
        return page.failures.at(0);
    }
    FailureCard card() {
        const FailureFigures figures = only();
        EXPECT_TRUE(figures.card.has_value());
        return figures.card.value_or(FailureCard{});
    }

    static std::vector<std::string> names(const std::vector<MapBlock>& blocks) {
        std::vector<std::string> result;
        for (const MapBlock& block : blocks) {
            result.push_back(block.is_free ? "free" : block.name.value_or("-"));
        }
        return result;
    }

    TestSegment segment_;
    Census census_;
    segment::CardHead head_;
    std::vector<segment::Allocation> blocks_;
    std::vector<segment::CardGap> gaps_;
    std::vector<segment::CardSum> sums_;
    std::vector<segment::Event> events_;
    uint64_t live_ = 0;
};

TEST_F(FailureCards, HaveTheRequestAndTheBank) {
    head_.used_per_bank = 200;
    write();
    const FailureCard found = card();
    EXPECT_EQ(found.number, 1u);
    EXPECT_EQ(found.request.requested, 2400u);
    EXPECT_EQ(found.request.needed, 600u);
    EXPECT_EQ(found.request.page, 64u);
    EXPECT_EQ(found.request.banks, 4u);
    EXPECT_EQ(found.request.alignment, 32u);
    EXPECT_EQ(found.request.direction, PlacementDirection::top_down);
    EXPECT_EQ(found.bank.kind, Kind::dram);
    EXPECT_EQ(found.bank.bank, (Bank{0x1000, 1000, 4}));
    EXPECT_EQ(found.bank.used, 200u);
    EXPECT_EQ(found.bank.free, 800u);
    EXPECT_EQ(found.bank.largest_free, 700u);
    EXPECT_EQ(only().no_card, std::nullopt);
}

TEST_F(FailureCards, UnreportedRulesAreAbsent) {
    head_.page_bytes = 0;
    head_.request_banks = 0;
    head_.request_direction = segment::kUnknownDirection;
    write();
    EXPECT_EQ(card().request.page, std::nullopt);
    EXPECT_EQ(card().request.banks, std::nullopt);
    EXPECT_EQ(card().request.direction, std::nullopt);
}

TEST_F(FailureCards, HaveTheBlocksByAddressWithTheFreeOnesAndTheirAgesAtTheFailure) {
    const uint32_t name = segment_.add_name("kv_cache");
    add_block(0x1000, 400, name, 40);
    add_block(0x1100, 800, 0, 90);
    write();
    const FailureCard found = card();
    EXPECT_TRUE(found.is_complete);
    EXPECT_THAT(names(found.blocks), ElementsAre("kv_cache", "free", "-", "free"));
    EXPECT_EQ(found.blocks[0].bytes, 100u) << "of 400 in 4 banks";
    EXPECT_EQ(found.blocks[0].used, 400u);
    EXPECT_EQ(found.blocks[0].age_ns, 60u);
    EXPECT_EQ(found.blocks[1].address, 0x1064u);
    EXPECT_EQ(found.blocks[1].bytes, 0x1100u - 0x1064);
    EXPECT_EQ(found.blocks[3].bytes, 0x1000u + 1000 - 0x1100 - 200);
    EXPECT_THAT(names(found.youngest), ElementsAre("-", "kv_cache"));
    EXPECT_THAT(names(found.around), ElementsAre("kv_cache", "free", "-", "free"));
    EXPECT_EQ(found.blocks_left_out, 0u);
}

TEST_F(FailureCards, ShowTheMapAroundTheLargestFreeBlock) {
    for (uint64_t i = 0; i < 10; ++i) {
        add_block(0x1000 + i * 20 + (i > 5 ? 100 : 0), 80, segment_.add_name("b" + std::to_string(i)), 1);
    }
    head_.bank_size = 10 * 20 + 100;
    write();
    EXPECT_THAT(names(card().around), ElementsAre("b3", "b4", "b5", "free", "b6", "b7", "b8"));
}

TEST_F(FailureCards, HaveTheFiveLargestHoldersAndTheFiveYoungest) {
    for (uint32_t i = 0; i < 8; ++i) {
        const uint32_t name = segment_.add_name("n" + std::to_string(i));
        sums_.push_back({name, 2, 100 - i});
        add_block(0x1000 + i * 32, 32, name, 10 + i);
    }
    write();
    const FailureCard found = card();
    ASSERT_THAT(found.holders, SizeIs(5));
    EXPECT_EQ(found.holders[0].name, "n0");
    EXPECT_EQ(found.holders[0].used, 100u);
    EXPECT_EQ(found.holders[0].count, 2u);
    EXPECT_THAT(names(found.youngest), ElementsAre("n7", "n6", "n5", "n4", "n3"));
}

TEST_F(FailureCards, OfPartOfTheBankSaySoAndHaveTheGapsOfTheProcess) {
    add_block(0x1000, 400, 0, 1);
    gaps_.push_back({0x1200, 128});
    live_ = 100'000;
    write();
    const FailureCard found = card();
    EXPECT_FALSE(found.is_complete);
    EXPECT_EQ(found.bank.allocations, 100'000u);
    EXPECT_THAT(names(found.blocks), ElementsAre("-", "free"));
    EXPECT_EQ(found.blocks[1].address, 0x1200u);
}

TEST_F(FailureCards, HaveTheLastEvents) {
    segment::Event event;
    event.type = segment::EventType::free;
    event.ticks = 64;
    event.address = 0x1234;
    event.requested = 77;
    event.name = static_cast<uint16_t>(segment_.add_name("matmul"));
    events_.push_back(event);
    event.type = segment::EventType::open_set;
    events_.push_back(event);
    event.type = static_cast<segment::EventType>(7);  // of a later version
    events_.push_back(event);
    write();
    const FailureCard found = card();
    ASSERT_THAT(found.events, SizeIs(2));
    EXPECT_EQ(found.events[0].type, CardEventType::free);
    EXPECT_EQ(found.events[0].age_ns, 36u);
    EXPECT_EQ(found.events[0].address, 0x1234u);
    EXPECT_EQ(found.events[0].requested, 77u);
    EXPECT_EQ(found.events[0].name, "matmul");
    EXPECT_EQ(found.events[1].type, CardEventType::set_opened);
    EXPECT_EQ(found.events[1].requested, std::nullopt);
}

TEST_F(FailureCards, OfAClashHaveTheProgramTheBufferInTheWayAndTheCores) {
    segment::Failure& failure = head_.failure;
    failure.type = static_cast<uint8_t>(FailureType::cb_clash);
    failure.kind = static_cast<uint8_t>(AllocationKind::cb);
    failure.program = 9;
    failure.core_x = 1;
    failure.core_y = 0;
    failure.cb_end = 0x180;
    failure.lowest_buffer = 0x140;
    failure.has_blocker = 1;
    failure.blocker_address = 0x140;
    head_.bank_base = 0x100;
    head_.bank_size = 500;
    head_.banks = 8;
    segment::CoreMask both{};
    both[0] = 3;
    segment::CoreMask other{};
    other[5] = 1;
    const uint32_t matmul = segment_.add_name("matmul");
    add_block(0x100, 0x20, matmul, 50, AllocationKind::cb, 9, segment_.add_cores(both));
    add_block(0x120, 0x60, matmul, 50, AllocationKind::cb, 9, segment_.add_cores(both));
    add_block(0x100, 0x10, matmul, 50, AllocationKind::cb, 9, segment_.add_cores(other));
    add_block(0x140, 256, segment_.add_name("activations"), 30, AllocationKind::l1, 5);
    write();
    const FailureCard found = card();
    ASSERT_TRUE(found.program);
    EXPECT_EQ(found.program->name, "matmul");
    EXPECT_EQ(found.program->core, (Core{1, 0}));
    ASSERT_THAT(found.program->circular_buffers, SizeIs(2)) << "those on the core";
    EXPECT_EQ(found.program->circular_buffers[1].bytes, 0x60u);
    EXPECT_THAT(found.program->cores, ElementsAre(Core{0, 0}, Core{1, 0}));
    ASSERT_TRUE(found.program->blocker);
    EXPECT_EQ(found.program->blocker->name, "activations");
    EXPECT_EQ(found.program->blocker->owner, 5u);
    EXPECT_EQ(found.program->blocker->age_ns, 70u);
    EXPECT_EQ(found.bank.kind, Kind::l1);
    EXPECT_THAT(names(found.around), testing::Contains("activations"));
    EXPECT_THAT(names(found.youngest), ElementsAre("activations")) << "no circular buffers";
    ASSERT_TRUE(found.fix);
    EXPECT_THAT(found.fix->to_shrink, ElementsAre(BufferToShrink{"matmul", 0x120, 0x60, 0x40}));
    ASSERT_THAT(found.fix->to_free, SizeIs(1));
    EXPECT_EQ(found.fix->to_free[0].blocks[0].name, "activations");
    EXPECT_TRUE(found.fix->to_free[0].can_move);
}

// A bank of 1,024 from 0x1000 with a and b in it, and a request of 640 that no gap holds.
class CardFixes : public FailureCards {
protected:
    void SetUp() override {
        FailureCards::SetUp();
        head_.bank_size = 1024;
        head_.used_per_bank = 192;
        head_.failure.requested = 2560;
        head_.failure.needed_per_bank = 640;
        head_.failure.free_per_bank = 832;
        head_.failure.largest_free_per_bank = 448;
    }

    void add_a_and_b() {
        add_block(0x1000, 4 * 128, segment_.add_name("a"), 10);
        add_block(0x1200, 4 * 64, segment_.add_name("b"), 90);
    }
};

TEST_F(CardFixes, NameTheCheapestBlocksAndTheAddressOfTheRequest) {
    add_a_and_b();
    write();
    const FailureFigures failure = only();
    EXPECT_EQ(failure.short_by, 192u);
    ASSERT_TRUE(failure.card && failure.card->fix) << failure.card->no_fix;
    const WaysOut& fix = *failure.card->fix;
    EXPECT_TRUE(fix.fits_after_compaction);
    ASSERT_THAT(fix.to_free, SizeIs(1)) << "a and b contain b, which suffices";
    EXPECT_EQ(fix.to_free[0].bytes, 64u);
    EXPECT_EQ(fix.to_free[0].address, 0x1400u - 640) << "from the top down";
    EXPECT_TRUE(fix.to_free[0].can_move);
    ASSERT_THAT(fix.to_free[0].blocks, SizeIs(1));
    EXPECT_EQ(fix.to_free[0].blocks[0].name, "b");
    EXPECT_EQ(fix.to_free[0].blocks[0].age_ns, 10u) << "at the failure";
    EXPECT_EQ(fix.region_size, std::nullopt);
}

TEST_F(CardFixes, RestOnTheAllocatorsOwnFigures) {
    add_a_and_b();
    head_.failure.free_per_bank = 800;
    write();
    EXPECT_EQ(card().fix, std::nullopt);
    EXPECT_THAT(card().no_fix, testing::HasSubstr("the map has 832 B"));
}

TEST_F(CardFixes, OfABankWithABufferOnSomeCoresAreUndecided) {
    add_a_and_b();
    blocks_[0].flags = segment::AllocationFlag::per_core;
    write();
    EXPECT_EQ(card().fix, std::nullopt);
    EXPECT_THAT(card().no_fix, testing::HasSubstr("cannot be decided: addresses per core"));
}

TEST_F(CardFixes, OfPartOfTheMapFreeNothingThatIsUnknown) {
    add_block(0x1200, 4 * 64, segment_.add_name("b"), 90);
    gaps_ = {{0x1080, 384}, {0x1240, 448}};
    live_ = 100'000;
    write();
    ASSERT_TRUE(card().fix) << card().no_fix;
    ASSERT_THAT(card().fix->to_free, SizeIs(1));
    EXPECT_EQ(card().fix->to_free[0].blocks[0].name, "b");
    head_.failure.needed_per_bank = 1000;  // the rest of the bank would be needed
    write(false);
    EXPECT_THAT(card().fix->to_free, IsEmpty());
}

TEST_F(CardFixes, NameOtherRequestsAndTheSizeOfARegion) {
    head_.failure.kind = static_cast<uint8_t>(AllocationKind::l1_small);
    head_.bank_size = 512;
    head_.used_per_bank = 0;
    head_.failure.free_per_bank = 512;
    head_.failure.largest_free_per_bank = 512;
    head_.direction = TTMEM_TOP_DOWN;
    head_.request_banks = 2;
    head_.failure.requested = 1280;  // 10 pages of 64 on each of two cores
    write();
    ASSERT_TRUE(card().fix) << card().no_fix;
    EXPECT_EQ(card().fix->region_size, 640u);
    EXPECT_EQ(card().fix->with_cores, 3u) << "7 pages of 64 on each";
    EXPECT_FALSE(card().fix->fits_after_compaction);
    EXPECT_THAT(card().fix->to_free, IsEmpty());
}

TEST_F(CardFixes, NameDramOnlyWhereItIsStillOpen) {
    head_.failure.kind = static_cast<uint8_t>(AllocationKind::l1);
    head_.failure.needed_per_bank = 640;  // 10 pages of 64 in each of 4 banks
    add_a_and_b();
    for (segment::Allocation& block : blocks_) {
        block.kind = AllocationKind::l1;
    }
    write();
    ASSERT_TRUE(card().fix) << card().no_fix;
    EXPECT_EQ(card().fix->dram_address, 0x1000u) << "DRAM is empty";
    census_ = census_of(segment_.process(7, 100, ProcessState::dead));
    EXPECT_EQ(card().fix->dram_address, std::nullopt) << "of an ended process";
    census_ = census_of(segment_.process(7));
    head_.failure.set = segment_.add_set(1, 1, 200);
    write();
    EXPECT_EQ(card().fix->dram_address, std::nullopt) << "of a closed set";
}

// What is used and what is needed are less than the region has; its free blocks do not hold the request.
TEST_F(CardFixes, OfAFragmentedRegionHoldTheRequestWhereTheBlocksLie) {
    head_.failure.kind = static_cast<uint8_t>(AllocationKind::l1_small);
    head_.direction = TTMEM_TOP_DOWN;
    head_.bank_size = 512;
    head_.used_per_bank = 256;
    head_.failure.needed_per_bank = 192;
    head_.failure.free_per_bank = 256;
    head_.failure.largest_free_per_bank = 160;
    add_block(0x1000 + 96, 4 * 256, 0, 10, AllocationKind::l1_small);
    write();
    ASSERT_TRUE(card().fix) << card().no_fix;
    EXPECT_EQ(card().fix->region_size, 608u) << "96 are free at its low end, which grows";
    head_.request_direction = TTMEM_BOTTOM_UP;
    write(false);
    EXPECT_EQ(card().fix->region_size, std::nullopt) << "the block may have been placed so too";
}

TEST_F(CardFixes, OfAFragmentedTraceRegionAreOfAllBanks) {
    ttmem_device_info info = small_chip(0x20, 1);
    info.memory[TTMEM_DRAM].size_per_bank = 65'536;
    segment_.add_device(info);
    head_.failure.set = segment_.add_set(2);
    census_ = census_of(segment_.process(7));
    head_.failure.kind = static_cast<uint8_t>(AllocationKind::trace);
    head_.direction = head_.request_direction = TTMEM_BOTTOM_UP;
    head_.bank_size = 16'384;
    head_.used_per_bank = 8192;
    head_.failure.needed_per_bank = 6144;
    head_.failure.free_per_bank = 8192;
    head_.failure.largest_free_per_bank = 4096;
    add_block(0x1000 + 4096, 4 * 8192, 0, 10, AllocationKind::trace);
    write();
    ASSERT_TRUE(card().fix) << card().no_fix;
    EXPECT_EQ(card().fix->region_size, 4u * 24'576) << "4,096 are free at its high end, which grows";
}

// The limit of all traces is the size of the region as requested, which is rounded up in each bank.
class CardFixesOfTraces : public CardFixes {
protected:
    void SetUp() override {
        CardFixes::SetUp();
        ttmem_device_info info = small_chip(0x20, 1);
        info.memory[TTMEM_DRAM].size_per_bank = 65'536;
        segment_.add_device(info);
        head_.failure.set = segment_.add_set(2);
        census_ = census_of(segment_.process(7));
        head_.failure.kind = static_cast<uint8_t>(AllocationKind::trace);
        head_.direction = head_.request_direction = TTMEM_BOTTOM_UP;
        head_.page_bytes = head_.request_banks = 0;
        head_.bank_size = 16'384;
        head_.used_per_bank = 4096;
        add_block(0x1000, 4 * 4096, segment_.add_name("trace"), 10, AllocationKind::trace);
    }
};

TEST_F(CardFixesOfTraces, NameTheRegionWhoseSizeIsTheLimit) {
    head_.failure.needed_per_bank = 6144;
    head_.failure.free_per_bank = head_.failure.largest_free_per_bank = 6000;  // the map has 12,288
    write();
    ASSERT_TRUE(card().fix) << card().no_fix;
    EXPECT_EQ(card().fix->region_size, 4u * 16'384);
    EXPECT_THAT(card().fix->to_free, IsEmpty()) << "the map does not say what counts";
}

TEST_F(CardFixesOfTraces, NameALargerRegionWhereTheBanksAreTooSmallToo) {
    head_.failure.needed_per_bank = 14'336;
    head_.failure.free_per_bank = head_.failure.largest_free_per_bank = 6000;
    write();
    ASSERT_TRUE(card().fix) << card().no_fix;
    EXPECT_EQ(card().fix->region_size, 4u * 24'576);
    head_.failure.largest_free_per_bank = 12'289;  // more than the map has
    write(false);
    EXPECT_EQ(card().fix, std::nullopt);
}

TEST_F(FailureCards, OutliveTheEntryOfTheirFailure) {
    add_block(0x1000, 400, 0, 1);
    write(false);
    const FailureFigures found = only();
    EXPECT_EQ(found.requested, 2400u);
    EXPECT_TRUE(found.card.has_value());
}

TEST_F(FailureCards, OfABriefQueryHaveNoBlocks) {
    add_block(0x1000, 400, 0, 1);
    write();
    const FailureFigures found = only({.brief = true});
    ASSERT_TRUE(found.card);
    EXPECT_THAT(found.card->blocks, IsEmpty());
    EXPECT_EQ(found.card->blocks_left_out, 2u);
    EXPECT_THAT(found.card->around, SizeIs(2));
}

TEST_F(FailureCards, ThatWereNotWrittenHaveAReason) {
    head_.failure.card = 0;
    head_.failure.no_card = static_cast<uint64_t>(NoCard::too_soon);
    write();
    segment_.header().cards.store(0);
    EXPECT_EQ(only().no_card, NoCard::too_soon);
    EXPECT_EQ(only().card, std::nullopt);
}

// Every number of a hostile card.
TEST_F(FailureCards, OfAHostileProcessDoNoHarm) {
    for (int i = 0; i < 64; ++i) {
        add_block(UINT64_MAX - static_cast<uint64_t>(i), UINT64_MAX, UINT32_MAX, UINT64_MAX,
                  AllocationKind::dram, UINT64_MAX, UINT16_MAX);
    }
    write();
    auto* words = &segment_.entry<segment::Word>(segment::RegionId::cards, 0);
    for (size_t word = 2; word < segment::kCardBlocksWord; ++word) {
        words[word].store(UINT64_MAX);
    }
    EXPECT_TRUE(list_failures(census_, {}));
    for (size_t word = 2; word < segment::kCardBlocksWord; ++word) {
        words[word].store(uint64_t{1} << 63);
    }
    EXPECT_TRUE(list_failures(census_, {}));
}

// Numbers that are nearly right reach further than those that are refused at once.
TEST_F(FailureCards, WithAFewWrongNumbersDoNoHarm) {
    for (uint64_t i = 0; i < 16; ++i) {
        add_block(0x1000 + i * 48, 4 * 32, 0, i);
    }
    write();
    auto* words = &segment_.entry<segment::Word>(segment::RegionId::cards, 0);
    const size_t all = segment::kCardBlocksWord + blocks_.size() * segment::kCardBlockWords;
    std::vector<uint64_t> right(all);
    for (size_t word = 0; word < all; ++word) {
        right[word] = words[word].load();
    }
    std::mt19937_64 random(1);
    const uint64_t values[] = {0, 1, 3, 31, 1000, UINT32_MAX, uint64_t{1} << 40, UINT64_MAX - 1, UINT64_MAX};
    for (int round = 0; round < 3'000; ++round) {
        for (size_t word = 0; word < all; ++word) {
            words[word].store(right[word]);
        }
        for (int change = 0; change < 3; ++change) {
            const size_t word = 1 + random() % (random() % 2 == 0 ? segment::kCardHeadWords : all - 1);
            words[word].store(random() % 2 == 0 ? values[random() % std::size(values)]
                                                : right[word] ^ uint64_t{1} << random() % 64);
        }
        EXPECT_TRUE(list_failures(census_, {}));
    }
}

}  // namespace
}  // namespace ttmem::census
