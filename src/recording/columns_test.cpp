// SPDX-License-Identifier: Apache-2.0
#include "recording/columns.hpp"

#include <gtest/gtest.h>

#include <random>

#include "recording/checksum.hpp"
#include "recording/format.hpp"

namespace ttmem::recording {

namespace {

using segment::EventType;

TEST(ByteStream, NumbersOfAllLengthsAreReadAsWritten) {
    ByteWriter to;
    for (unsigned bit = 0; bit < 64; ++bit) {
        to.number(uint64_t{1} << bit);
        to.difference(0 - (uint64_t{1} << bit));
    }
    to.number(UINT64_MAX);
    to.text("text");
    ByteReader from(to.bytes());
    for (unsigned bit = 0; bit < 64; ++bit) {
        EXPECT_EQ(from.number(), uint64_t{1} << bit);
        EXPECT_EQ(from.difference(), 0 - (uint64_t{1} << bit));
    }
    EXPECT_EQ(from.number(), UINT64_MAX);
    EXPECT_EQ(from.text(), "text");
    EXPECT_TRUE(from.is_good());
    EXPECT_EQ(from.number(), 0u);
    EXPECT_FALSE(from.is_good());
}

TEST(ByteStream, ATextLongerThanItsBytesIsEmpty) {
    ByteWriter to;
    to.number(UINT64_MAX);
    ByteReader from(to.bytes());
    EXPECT_EQ(from.text(), "");
    EXPECT_FALSE(from.is_good());
}

TEST(Checksum, IsTheOneOfGzip) {
    EXPECT_EQ(checksum_of(""), 0u);
    EXPECT_EQ(checksum_of("123456789"), 0xcbf4'3926u);
    EXPECT_EQ(checksum_of("The quick brown fox jumps over the lazy dog"), 0x414f'a339u);
}

RecordedEvent random_event(std::mt19937_64& random, uint64_t time_ns) {
    RecordedEvent event;
    event.type = static_cast<EventType>(1 + random() % 5);
    event.time_ns = time_ns;
    event.slot = static_cast<uint32_t>(random() % 1000);
    event.is_late = random() % 50 == 0;
    event.allocation.set = static_cast<uint8_t>(random() % 3);
    if (event.type == EventType::allocate) {
        event.lacks_details = random() % 20 == 0;
        segment::Allocation& a = event.allocation;
        a.address = random() % 3 == 0 ? random() : random() % 65536 * 32;
        a.requested = random() % (uint64_t{1} << 40);
        a.reserved = random() % 2 == 0 ? a.requested : random() % (uint64_t{1} << 40);
        a.owner = random() % 4 == 0 ? random() : random() % 100;
        a.name = static_cast<uint32_t>(random() % 20);
        a.core_set = static_cast<uint16_t>(random() % 3);
        a.thread = static_cast<uint32_t>(random() % 4);
        a.kind = static_cast<segment::AllocationKind>(random() % segment::kKinds);
        a.flags = segment::AllocationFlags(static_cast<uint16_t>(random() % 64));
    } else if (event.type == EventType::failure) {
        event.allocation.kind = segment::AllocationKind::l1;
        event.allocation.name = static_cast<uint32_t>(random() % 20);
        event.allocation.requested = random() % (uint64_t{1} << 40);
        event.failure = static_cast<segment::FailureType>(random() % 3);
    }
    return event;
}

void expect_same(const RecordedEvent& a, const RecordedEvent& b) {
    EXPECT_EQ(a.type, b.type);
    EXPECT_EQ(a.is_late, b.is_late);
    EXPECT_EQ(a.lacks_details, b.lacks_details);
    EXPECT_LE(std::max(a.time_ns, b.time_ns) - std::min(a.time_ns, b.time_ns), kTimeUnitNs);
    if (a.type == EventType::open_set || a.type == EventType::close_set) {
        EXPECT_EQ(a.allocation.set, b.allocation.set);
        return;
    }
    EXPECT_EQ(a.slot, b.slot);
    if (a.type == EventType::failure) {
        EXPECT_EQ(a.failure, b.failure);
        EXPECT_EQ(a.allocation.requested, b.allocation.requested);
    }
    if (a.type == EventType::allocate) {
        uint64_t words_a[segment::kLedgerPayloadWords];
        uint64_t words_b[segment::kLedgerPayloadWords];
        segment::encode(a.allocation, 1, words_a);
        segment::encode(b.allocation, 1, words_b);
        EXPECT_TRUE(std::equal(std::begin(words_a), std::end(words_a), std::begin(words_b)));
    }
}

TEST(Columns, EventsAreReadAsWritten) {
    std::mt19937_64 random(1);
    for (int round = 0; round < 50; ++round) {
        const uint64_t first_ns = random() % (uint64_t{1} << 60);
        uint64_t time_ns = first_ns;
        ColumnWriter to(first_ns);
        std::vector<RecordedEvent> written;
        for (uint64_t count = random() % 500; count != 0; --count) {
            time_ns += random() % 5000;
            written.push_back(random_event(random, time_ns));
            to.add(written.back());
        }
        ByteWriter bytes;
        to.write(bytes);
        ByteReader source(bytes.bytes());
        ColumnReader from(source, first_ns);
        RecordedEvent event;
        for (const RecordedEvent& expected : written) {
            ASSERT_TRUE(from.next(event));
            expect_same(event, expected);
        }
        EXPECT_FALSE(from.next(event));
        EXPECT_TRUE(from.is_good());
    }
}

TEST(Columns, RoundingErrorsOfTimesDoNotAddUp) {
    ColumnWriter to(1000);
    for (uint64_t i = 0; i < 10'000; ++i) {
        RecordedEvent event;
        event.type = EventType::free;
        event.time_ns = 1000 + i * 23;
        to.add(event);
    }
    ByteWriter bytes;
    to.write(bytes);
    ByteReader source(bytes.bytes());
    ColumnReader from(source, 1000);
    RecordedEvent event;
    uint64_t last = 0;
    while (from.next(event)) {
        EXPECT_GE(event.time_ns, last);
        last = event.time_ns;
    }
    EXPECT_NEAR(static_cast<double>(last), 1000 + 9'999 * 23, kTimeUnitNs);
}

TEST(Columns, DamagedBytesEndTheListAndAreNoticed) {
    std::mt19937_64 random(2);
    ColumnWriter to(0);
    for (int i = 0; i < 200; ++i) {
        to.add(random_event(random, static_cast<uint64_t>(i) * 100));
    }
    ByteWriter bytes;
    to.write(bytes);
    for (size_t length = 0; length < bytes.bytes().size(); ++length) {
        ByteReader source(std::string_view(bytes.bytes()).substr(0, length));
        ColumnReader from(source, 0);
        RecordedEvent event;
        uint64_t count = 0;
        while (from.next(event)) {
            ++count;
        }
        EXPECT_LE(count, 200u);
        EXPECT_FALSE(from.is_good()) << length;
    }
}

}  // namespace

}  // namespace ttmem::recording
