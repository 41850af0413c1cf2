// SPDX-License-Identifier: Apache-2.0

// Cards: what the reader returns of them, and what it makes of hostile ones.

#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "segment/reader.hpp"
#include "segment/small_segment_test_support.hpp"

namespace ttmem::segment {

namespace {

Word* words_of(SmallSegment& segment, uint64_t number) {
    return &segment.entry<Word>(RegionId::cards, card_index(number));
}

}  // namespace

TEST(ReaderCards, ACardHasItsHeadAndItsParts) {
    SmallSegment segment;
    segment.fill();
    const Reader reader = read(segment);
    EXPECT_EQ(reader.card_count(), 1u);
    const std::optional<CardContents> card = reader.card(1);
    ASSERT_TRUE(card);
    EXPECT_EQ(card->head.bank_size, 0x10'0000u);
    EXPECT_TRUE(card->head.is_complete());
    ASSERT_EQ(card->gaps.size(), 1u);
    EXPECT_EQ(card->gaps[0].address, 0x2000u);
    ASSERT_EQ(card->sums.size(), 1u);
    EXPECT_EQ(card->sums[0].count, 3u);
    ASSERT_EQ(card->events.size(), 1u);
    EXPECT_EQ(card->events[0].address, 0x3000u);
    ASSERT_EQ(card->blocks.size(), 3u);
    EXPECT_EQ(card->blocks[2].allocation.address, 0x1040u);
    EXPECT_EQ(card->blocks[2].slot.slot, 2u);
}

TEST(ReaderCards, TheFirstFewAndTheLastFewHaveTheirPlaces) {
    EXPECT_EQ(card_index(1), 0u);
    EXPECT_EQ(card_index(4), 3u);
    EXPECT_EQ(card_index(5), 4u);
    EXPECT_EQ(card_index(16), 15u);
    EXPECT_EQ(card_index(17), 4u);
    SmallSegment segment;
    const Reader reader = read(segment);
    EXPECT_TRUE(reader.card_numbers().empty());
    segment.header().cards.store(3);
    EXPECT_EQ(reader.card_numbers(), (std::vector<uint64_t>{1, 2, 3}));
    segment.header().cards.store(100);
    const std::vector<uint64_t> numbers = reader.card_numbers();
    ASSERT_EQ(numbers.size(), kCards);
    EXPECT_EQ(numbers[3], 4u);
    EXPECT_EQ(numbers[4], 89u);
    EXPECT_EQ(numbers.back(), 100u);
    segment.header().cards.store(UINT64_MAX);  // only a hostile one
    EXPECT_LE(reader.card_numbers().size(), kCards);
}

TEST(ReaderCards, OneThatIsNotKeptAnyMoreIsAbsent) {
    SmallSegment segment;
    segment.put_card(1, 1);
    const Reader reader = read(segment);
    EXPECT_FALSE(reader.card(0));
    EXPECT_FALSE(reader.card(2)) << "never written";
    words_of(segment, 1)[1].store(2);
    EXPECT_FALSE(reader.card(1)) << "another card is in its place";
    EXPECT_FALSE(reader.card(UINT64_MAX));
}

TEST(ReaderCards, OneThatIsBeingWrittenIsAbsent) {
    SmallSegment segment;
    segment.put_card(1, 1);
    const Reader reader = read(segment);
    words_of(segment, 1)[0].store(4);
    EXPECT_FALSE(reader.card(1));
    words_of(segment, 1)[0].store(5);
    EXPECT_TRUE(reader.card(1));
}

TEST(ReaderCards, CountsBeyondTheRoomAreBounded) {
    SmallSegment segment;
    segment.put_card(1, 1);
    const size_t counts = 1 + offsetof(CardHead, gaps) / sizeof(Word);
    words_of(segment, 1)[counts].store(UINT64_MAX);
    words_of(segment, 1)[counts + 1].store(UINT64_MAX);
    const std::optional<CardContents> card = read(segment).card(1);
    ASSERT_TRUE(card);
    EXPECT_EQ(card->gaps.size(), kCardGaps);
    EXPECT_EQ(card->sums.size(), kCardSums);
    EXPECT_EQ(card->events.size(), kCardEvents);
    EXPECT_EQ(card->blocks.size(), kCardBlocks);
}

// Reading a hole through a map would take memory.
TEST(ReaderCards, OneWhoseBlocksAreAHoleIsAbsent) {
    SmallSegment segment;
    segment.put_card(1, 1);
    const size_t counts = 1 + offsetof(CardHead, events) / sizeof(Word);
    words_of(segment, 1)[counts].store(uint64_t{4096} << 32);
    const auto reader = Reader::open(segment.memfd());
    ASSERT_TRUE(reader);
    EXPECT_FALSE(reader->card(1));
}

}  // namespace ttmem::segment
