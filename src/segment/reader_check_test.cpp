// SPDX-License-Identifier: Apache-2.0

// What a reader accepts at all: each field of the header, wrong in each way that matters.

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>

#include "segment/read_everything_test_support.hpp"
#include "segment/reader.hpp"
#include "segment/small_segment_test_support.hpp"

namespace ttmem::segment {

namespace {

using base::Error;

constexpr RegionId kAllRegions[kRegions] = {
    RegionId::devices, RegionId::sets,     RegionId::core_sets, RegionId::pools, RegionId::tallies,
    RegionId::names,   RegionId::failures, RegionId::writers,   RegionId::rings, RegionId::ledger,
    RegionId::cards,   RegionId::chips,    RegionId::marks,
};

using Spoil = std::function<void(SmallSegment&)>;

// The code of the refusal, and its text in `text`; `gone` where the segment was accepted after all.
Error::Code refusal(const Spoil& spoil, std::string* text = nullptr) {
    SmallSegment segment;
    segment.fill();
    spoil(segment);
    const auto reader = segment.read();
    if (reader) {
        return Error::Code::gone;
    }
    if (text != nullptr) {
        *text = reader.error().text;
    }
    return reader.error().code;
}

bool is_refused(const Spoil& spoil) { return refusal(spoil) == Error::Code::refused; }

}  // namespace

TEST(ReaderCheck, AnHonestSegmentIsAccepted) {
    SmallSegment segment;
    segment.fill();
    const auto reader = segment.read();
    ASSERT_TRUE(reader) << reader.error().text;
    EXPECT_EQ(4242u, reader->pid());
    EXPECT_EQ(777u, reader->start_time());
    EXPECT_EQ(16u, reader->ring_capacity());
}

// The inputs that the fuzzer starts from must pass these checks, or it would test nothing else.
TEST(ReaderCheck, TheCorpusOfTheFuzzerStartsFromASegment) {
    std::ifstream file(TTMEM_SOURCE_DIR "/src/segment/corpus/valid_raw", std::ios::binary);
    const std::string input{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    ASSERT_GT(input.size(), sizeof(Header) / 2);
    alignas(64) static unsigned char bytes[64 << 10];
    std::copy(input.begin() + 1, input.end(), bytes);
    const auto reader = Reader::over(bytes, sizeof bytes);
    ASSERT_TRUE(reader) << reader.error().text << ": make the corpus anew with make_corpus.py";
    EXPECT_EQ(48u, reader->slots_used());
}

TEST(ReaderCheck, WithoutTheMagicItIsUnfinished) {
    EXPECT_EQ(Error::Code::unfinished, refusal([](SmallSegment& s) { s.header().magic.store(0); }));
    SmallSegment empty;
    std::fill(empty.bytes(), empty.bytes() + empty.size(), static_cast<unsigned char>(0));
    const auto file = Reader::open(empty.memfd());
    ASSERT_FALSE(file);
    EXPECT_EQ(Error::Code::unfinished, file.error().code) << "a sealed file that is one hole";
}

TEST(ReaderCheck, AnotherMagicIsRefused) {
    EXPECT_TRUE(is_refused([](SmallSegment& s) { s.header().magic.store(kMagic + 1); }));
    EXPECT_TRUE(is_refused([](SmallSegment& s) { s.header().magic.store(UINT64_MAX); }));
}

TEST(ReaderCheck, AnotherVersionIsRefusedByName) {
    std::string text;
    EXPECT_EQ(Error::Code::refused, refusal([](SmallSegment& s) { s.header().version = 9'999; }, &text));
    EXPECT_EQ("version 9999, this program reads 2: upgrade ttmem", text);
    EXPECT_EQ(Error::Code::refused, refusal([](SmallSegment& s) { s.header().version = 1; }, &text));
    EXPECT_EQ("version 1, this program reads 2: upgrade the libttmem of that process", text);
}

TEST(ReaderCheck, ASizeThatIsNotTheFilesIsRefused) {
    EXPECT_TRUE(is_refused([](SmallSegment& s) { s.header().segment_bytes += kPage; }));
    EXPECT_TRUE(is_refused([](SmallSegment& s) { s.header().segment_bytes = 0; }));
    EXPECT_TRUE(is_refused([](SmallSegment& s) { s.header().segment_bytes = UINT64_MAX; }));
    EXPECT_TRUE(is_refused([](SmallSegment& s) { s.header().header_bytes = sizeof(Header) - 1; }));
}

TEST(ReaderCheck, LessThanAHeaderIsNoSegment) {
    SmallSegment segment;
    EXPECT_FALSE(Reader::over(segment.bytes(), sizeof(Header) - 1));
    EXPECT_FALSE(Reader::over(segment.bytes(), 0));
}

TEST(ReaderCheck, ARegionThatLeavesTheSegmentIsRefused) {
    for (const RegionId id : kAllRegions) {
        SCOPED_TRACE(static_cast<uint32_t>(id));
        EXPECT_TRUE(is_refused([&](SmallSegment& s) { s.region(id).offset = s.size(); }));
        EXPECT_TRUE(
            is_refused([&](SmallSegment& s) { s.region(id).offset = s.size() - s.region(id).bytes() + 64; }));
        EXPECT_TRUE(is_refused([&](SmallSegment& s) { s.region(id).offset = UINT64_MAX - 63; }));
        EXPECT_TRUE(is_refused([&](SmallSegment& s) { s.region(id).offset = uint64_t{1} << 63; }));
        EXPECT_TRUE(is_refused([&](SmallSegment& s) { s.region(id).count = UINT32_MAX; }));
        EXPECT_TRUE(is_refused([&](SmallSegment& s) { s.region(id).stride = UINT32_MAX - 63; }));
        EXPECT_TRUE(is_refused([&](SmallSegment& s) {
            s.region(id).stride = UINT32_MAX - 63;
            s.region(id).count = UINT32_MAX;
        }));
    }
}

TEST(ReaderCheck, ARegionInsideTheHeaderIsRefused) {
    for (const RegionId id : kAllRegions) {
        SCOPED_TRACE(static_cast<uint32_t>(id));
        EXPECT_TRUE(is_refused([&](SmallSegment& s) { s.region(id).offset = 0; }));
        EXPECT_TRUE(is_refused([&](SmallSegment& s) { s.region(id).offset = 704; }));
    }
}

TEST(ReaderCheck, ARegionThatCutsItsEntriesIsRefused) {
    for (const RegionId id : kAllRegions) {
        SCOPED_TRACE(static_cast<uint32_t>(id));
        EXPECT_TRUE(is_refused([&](SmallSegment& s) { s.region(id).stride = 0; }));
        EXPECT_TRUE(is_refused([&](SmallSegment& s) { s.region(id).stride = 8; }));
        if (id < RegionId::cards) {
            EXPECT_TRUE(is_refused([&](SmallSegment& s) { s.region(id).count = 0; }));
        }
    }
}

TEST(ReaderCheck, ASegmentOfAnEarlierWriterIsAcceptedAndHasNoCardsPeaksOfChipsAndMarks) {
    SmallSegment segment;
    segment.fill();
    segment.header().marks = 1;
    for (const RegionId id : {RegionId::cards, RegionId::chips, RegionId::marks}) {
        segment.region(id) = {};
    }
    const auto reader = segment.read();
    ASSERT_TRUE(reader) << reader.error().text;
    EXPECT_FALSE(reader->card(1));
    EXPECT_TRUE(reader->totals().chips.empty());
    EXPECT_TRUE(reader->marks().empty());
}

// A word that is not on its own 8 bytes could not be read in one piece.
TEST(ReaderCheck, ARegionOffItsAlignmentIsRefused) {
    for (const RegionId id : kAllRegions) {
        SCOPED_TRACE(static_cast<uint32_t>(id));
        EXPECT_TRUE(is_refused([&](SmallSegment& s) { s.region(id).offset += 4; }));
        EXPECT_TRUE(is_refused([&](SmallSegment& s) { s.region(id).offset += 8; }));
        EXPECT_TRUE(is_refused([&](SmallSegment& s) {
            s.region(id).count = 1;
            s.region(id).stride += 4;
        }));
    }
}

// Pools and writers have a cache line each, so that threads don't meet on one.
TEST(ReaderCheck, PoolsAndWritersOffTheirCacheLinesAreRefused) {
    for (const RegionId id : {RegionId::pools, RegionId::writers}) {
        Shape shape;
        shape.extra_of(id) = 8;
        EXPECT_FALSE(SmallSegment(shape).read());
        shape.extra_of(id) = 64;
        EXPECT_TRUE(SmallSegment(shape).read());
    }
}

TEST(ReaderCheck, RegionsThatContradictEachOtherAreRefused) {
    EXPECT_TRUE(is_refused([](SmallSegment& s) { s.region(RegionId::rings).count = 1; }))
        << "a writer without ring";
    EXPECT_TRUE(is_refused([](SmallSegment& s) { s.region(RegionId::tallies).count = 1; }))
        << "or without tallies";
    EXPECT_TRUE(is_refused([](SmallSegment& s) { s.region(RegionId::pools).count -= 1; }))
        << "a set without pools";
    EXPECT_TRUE(is_refused([](SmallSegment& s) { s.region(RegionId::tallies).stride -= 64; }));
    EXPECT_TRUE(is_refused([](SmallSegment& s) {
        s.region(RegionId::rings).stride = 24 * sizeof(RingRecord);
    })) << "a ring whose size is no power of two";
}

TEST(ReaderCheck, MoreEntriesThanNumbersCanNameAreRefused) {
    const auto with_count = [](RegionId id, uint32_t count) {
        Shape shape;
        shape.count_of(id) = count;
        SmallSegment segment(shape);
        return segment.read().has_value();
    };
    EXPECT_TRUE(with_count(RegionId::devices, 64));
    EXPECT_FALSE(with_count(RegionId::devices, 65)) << "a set names its members by 64 bits";
    EXPECT_TRUE(with_count(RegionId::names, 65'536));
    EXPECT_FALSE(with_count(RegionId::names, 65'537)) << "a record names a name by 16 bits";
    EXPECT_TRUE(with_count(RegionId::core_sets, 65'536));
    EXPECT_FALSE(with_count(RegionId::core_sets, 65'537)) << "so does a slot a core set";
    EXPECT_TRUE(with_count(RegionId::failures, 200)) << "a later version may keep more";
}

// The region table may say that regions lie upon each other. That is a lie, but no danger.
TEST(ReaderCheck, RegionsUponEachOtherAreReadWithoutHarm) {
    SmallSegment segment;
    segment.fill();
    const uint64_t everywhere = segment.region(RegionId::devices).offset;
    for (const RegionId id : kAllRegions) {
        segment.region(id).offset = everywhere;
    }
    const auto reader = segment.read();
    ASSERT_TRUE(reader) << reader.error().text;
    Cursor cursor;
    EXPECT_EQ("", read_everything(*reader, cursor).problem);
}

TEST(ReaderCheck, WhatTheHeaderSaysLaterChangesNothing) {
    SmallSegment segment;
    segment.fill();
    const auto reader = segment.read();
    ASSERT_TRUE(reader);
    for (const RegionId id : kAllRegions) {
        segment.region(id) = {UINT64_MAX - 63, UINT32_MAX, UINT32_MAX};
    }
    segment.header().segment_bytes = UINT64_MAX;
    segment.header().pid = 1;
    segment.header().clock_kind = 0xffff;
    Cursor cursor;
    EXPECT_EQ("", read_everything(*reader, cursor).problem);
    EXPECT_EQ(4242u, reader->pid());
    EXPECT_EQ(8u, cursor.kept());
}

}  // namespace ttmem::segment
