// SPDX-License-Identifier: Apache-2.0

// Names as a reader puts them together, honest ones and others.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "segment/reader.hpp"
#include "segment/small_segment_test_support.hpp"

namespace ttmem::segment {

TEST(ReaderNames, ANameThatIsItsOwnAncestorStandsAlone) {
    SmallSegment segment;
    segment.put_name(1, "a", 2);
    segment.put_name(2, "b", 1);
    segment.put_name(3, "self", 3);
    const Reader reader = read(segment);
    EXPECT_EQ("a", reader.name(1));
    EXPECT_EQ("a/b", reader.name(2));
    EXPECT_EQ("self", reader.name(3));
}

TEST(ReaderNames, AVeryLongNameLacksItsBeginning) {
    Shape shape;
    shape.count_of(RegionId::names) = 80;
    SmallSegment segment(shape);
    for (uint32_t i = 1; i <= 65; ++i) {
        segment.put_name(i, std::string(120, 'a'), i - 1);
    }
    const std::string name = read(segment).name(65);
    EXPECT_TRUE(name.starts_with("\u2026/aaa")) << name;
    EXPECT_LE(name.size(), 1200u);
}

TEST(ReaderNames, ANameWhoseParentIsMissingStandsAlone) {
    SmallSegment segment;
    segment.put_name(1, "orphan", 7);
    segment.put_name(2, "child", 1'000'000);
    const Reader reader = read(segment);
    EXPECT_EQ("orphan", reader.name(1));
    EXPECT_EQ("child", reader.name(2));
}

TEST(ReaderNames, ADeepNameIsWhole) {
    Shape shape;
    shape.count_of(RegionId::names) = 80;
    SmallSegment segment(shape);
    std::string whole;
    for (uint32_t i = 1; i <= 65; ++i) {
        segment.put_name(i, "n" + std::to_string(i), i - 1);
        whole += (i == 1 ? "n" : "/n") + std::to_string(i);
    }
    EXPECT_EQ(whole, read(segment).name(65)) << "64 scopes and a tag";
}

TEST(ReaderNames, NoNameMovesTheCursor) {
    SmallSegment segment;
    segment.put_name(1, "\x1b[2J\r\n\x07kill", 0);
    segment.put_name(2, "caf\xc3\xa9 \xff\xfe \xc2\x9b", 0);
    const Reader reader = read(segment);
    EXPECT_EQ("?[2J???kill", reader.name(1));
    EXPECT_EQ("caf\xc3\xa9 ?? ??", reader.name(2));
}

TEST(ReaderNames, ALengthBeyondItsNameIsCut) {
    SmallSegment segment;
    segment.put_name(1, std::string(120, 'x'), 0);
    segment.entry<Name>(RegionId::names, 1).length_and_parent.store(UINT32_MAX);
    EXPECT_EQ(std::string(120, 'x'), read(segment).name(1));
    EXPECT_EQ("", read(segment).name(0));
    EXPECT_EQ("", read(segment).name(UINT64_MAX));
    EXPECT_EQ("", read(segment).name((uint64_t{1} << 32) + 1)) << "ids are not cut to 32 bits";
}

}  // namespace ttmem::segment
