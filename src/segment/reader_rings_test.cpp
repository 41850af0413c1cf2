// SPDX-License-Identifier: Apache-2.0

// Following the rings: each event once, what was lost counted, and heads that jump.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "segment/reader.hpp"
#include "segment/small_segment_test_support.hpp"

namespace ttmem::segment {

namespace {

using ::testing::ElementsAre;

Event event_at(uint64_t address) {
    Event event;
    event.address = address;
    return event;
}

std::vector<uint64_t> addresses_since(const Reader& reader, Cursor& cursor) {
    std::vector<uint64_t> addresses;
    reader.follow(cursor, [&](uint32_t, const Event& event) { addresses.push_back(event.address); });
    return addresses;
}

}  // namespace

TEST(ReaderRings, AFollowerGetsEachEventOnce) {
    SmallSegment segment;
    const Reader reader = read(segment);
    Cursor cursor;
    segment.put_event(0, event_at(1));
    segment.put_event(1, event_at(2));
    EXPECT_THAT(addresses_since(reader, cursor), ElementsAre(1, 2));
    EXPECT_THAT(addresses_since(reader, cursor), ElementsAre());
    segment.put_event(1, event_at(3));
    EXPECT_THAT(addresses_since(reader, cursor), ElementsAre(3));
    EXPECT_EQ(3u, cursor.kept());
    EXPECT_EQ(0u, cursor.lost());
}

TEST(ReaderRings, AFollowerWithABoundGoesOnWhereItStoppedAndPassesOverNoRing) {
    SmallSegment segment;
    const Reader reader = read(segment);
    Cursor cursor;
    for (uint64_t i = 0; i < 4; ++i) {
        segment.put_event(0, event_at(i));
        segment.put_event(1, event_at(10 + i));
    }
    std::vector<std::vector<uint64_t>> rounds(4);
    for (auto& round : rounds) {
        reader.follow(
            cursor, [&](uint32_t, const Event& event) { round.push_back(event.address); }, 3);
    }
    EXPECT_THAT(rounds, ElementsAre(ElementsAre(0, 1, 2), ElementsAre(10, 11, 12), ElementsAre(3, 13),
                                    ElementsAre()));
    EXPECT_EQ(0u, cursor.lost());
}

TEST(ReaderRings, AnEventTellsWhetherItAddsBytes) {
    for (const bool adds_bytes : {true, false}) {
        Event event;
        event.type = EventType::free;
        event.adds_bytes = adds_bytes;
        uint64_t record[kRecordWords];
        encode(event, record);
        EXPECT_EQ(decode_event(record).type, EventType::free);
        EXPECT_EQ(decode_event(record).adds_bytes, adds_bytes);
    }
}

TEST(ReaderRings, AFollowerThatWasLappedCountsWhatItLost) {
    SmallSegment segment;
    const Reader reader = read(segment);
    Cursor cursor;
    for (uint64_t i = 0; i < 100; ++i) {
        segment.put_event(0, event_at(i));
    }
    const std::vector<uint64_t> got = addresses_since(reader, cursor);
    ASSERT_EQ(15u, got.size()) << "the oldest of 16 may be just being overwritten";
    EXPECT_EQ(85u, got.front());
    EXPECT_EQ(99u, got.back());
    EXPECT_EQ(85u, cursor.lost());
    EXPECT_EQ(100u, cursor.kept() + cursor.lost());
}

TEST(ReaderRings, ACursorAtTheEndHasLostNothing) {
    SmallSegment segment;
    for (uint64_t i = 0; i < 100; ++i) {
        segment.put_event(0, event_at(i));
    }
    const Reader reader = read(segment);
    Cursor cursor = reader.cursor_at_end();
    EXPECT_THAT(addresses_since(reader, cursor), ElementsAre());
    segment.put_event(0, event_at(100));
    segment.put_event(1, event_at(200));
    EXPECT_THAT(addresses_since(reader, cursor), ElementsAre(100, 200)) << "also of a writer that came later";
    EXPECT_EQ(0u, cursor.lost());
}

TEST(ReaderRings, AHeadThatJumpsIsFollowedInBoundedTime) {
    SmallSegment segment;
    segment.put_event(0, event_at(1));
    const Reader reader = read(segment);
    Cursor cursor;
    addresses_since(reader, cursor);
    Word& head = segment.entry<WriterLine>(RegionId::writers, 0).head;
    for (const uint64_t to : {UINT64_MAX, uint64_t{0}, uint64_t{5}, uint64_t{1} << 63, uint64_t{3},
                              UINT64_MAX - 1, uint64_t{1} << 40, uint64_t{1}}) {
        head.store(to);
        EXPECT_LE(addresses_since(reader, cursor).size(), 15u) << to;
        EXPECT_EQ(to, cursor.rings.at(0).next) << "it is where the head is";
        EXPECT_THAT(addresses_since(reader, cursor), ElementsAre());
    }
}

TEST(ReaderRings, WritersThatGoAwayAndComeBackCostNothing) {
    SmallSegment segment;
    segment.put_event(1, event_at(1));
    const Reader reader = read(segment);
    Cursor cursor;
    addresses_since(reader, cursor);
    segment.header().writers_used.store(0);
    EXPECT_THAT(addresses_since(reader, cursor), ElementsAre());
    segment.header().writers_used.store(2);
    segment.put_event(1, event_at(2));
    EXPECT_THAT(addresses_since(reader, cursor), ElementsAre(2));
}

}  // namespace ttmem::segment
