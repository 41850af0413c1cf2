// SPDX-License-Identifier: Apache-2.0
#include "view/text/format.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace ttmem::view {
namespace {

constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();

TEST(Format, SentencesKeepTheUnitOfPlainBytes) {
    EXPECT_EQ(prose_bytes(14'753'792, false), "14.1 MiB");
    EXPECT_EQ(prose_bytes(14'753'792, true), "14753792 B");
    EXPECT_EQ(prose_signed_bytes(-64, true), "-64 B");
}

TEST(Format, WordsAreWrappedAndFurtherLinesIndented) {
    EXPECT_THAT(wrap_words("one two three", 8), testing::ElementsAre("one two", "  three"));
    EXPECT_THAT(wrap_words("one two three", 80), testing::ElementsAre("one two three"));
    EXPECT_THAT(wrap_words("averylongword x", 4), testing::ElementsAre("averylongword", "  x"));
}

TEST(Format, BytesHaveOneDecimalAndABinaryUnit) {
    EXPECT_EQ(format_bytes(0), "0 B");
    EXPECT_EQ(format_bytes(999), "999 B");
    EXPECT_EQ(format_bytes(1000), "1.0 KiB");
    EXPECT_EQ(format_bytes(1024), "1.0 KiB");
    EXPECT_EQ(format_bytes(14'753'792), "14.1 MiB");
    EXPECT_EQ(format_bytes(12'872'318'208), "12.0 GiB");
    EXPECT_EQ(format_bytes(kMost), "16.0 EiB");
}

TEST(Format, BytesNeverTakeMoreThanNineColumns) {
    for (unsigned bit = 0; bit < 64; ++bit) {
        for (const uint64_t bytes : {uint64_t{1} << bit, (uint64_t{1} << bit) - 1, kMost >> bit}) {
            EXPECT_LE(format_bytes(bytes).size(), 9u) << bytes;
        }
    }
    EXPECT_EQ(format_bytes(1'023'948), "999.9 KiB");
    EXPECT_EQ(format_bytes(1'024'000), "1.0 MiB");
}

TEST(Format, ExactBytesAreThePlainNumber) { EXPECT_EQ(format_bytes(14'753'792, true), "14753792"); }

TEST(Format, BytesBelowZeroHaveASign) {
    EXPECT_EQ(format_signed_bytes(-2048), "-2.0 KiB");
    EXPECT_EQ(format_signed_bytes(2048), "2.0 KiB");
    EXPECT_EQ(format_signed_bytes(std::numeric_limits<int64_t>::min()), "-8.0 EiB");
}

TEST(Format, AgesHaveTwoUnitsAtMost) {
    constexpr uint64_t kSecond = 1'000'000'000;
    EXPECT_EQ(format_age(0), "0s");
    EXPECT_EQ(format_age(999'999), "<1ms");
    EXPECT_EQ(format_age(350'900'000), "350ms");
    EXPECT_EQ(format_age(kSecond), "1s");
    EXPECT_EQ(format_age(59 * kSecond), "59s");
    EXPECT_EQ(format_age(200 * kSecond), "3m20s");
    EXPECT_EQ(format_age(18'420 * kSecond), "5h07m");
    EXPECT_EQ(format_age(1'047'600 * kSecond), "12d03h");
    EXPECT_EQ(format_age(kMost), "213503d23h");
}

TEST(Format, OnlyAFullWholeIsAHundredPercentAndOnlyAnEmptyOneIsZero) {
    EXPECT_EQ(format_percent(0, 1000), "0%");
    EXPECT_EQ(format_percent(1, 1000), "<1%");
    EXPECT_EQ(format_percent(999, 1000), "99%");
    EXPECT_EQ(format_percent(1000, 1000), "100%");
    EXPECT_EQ(format_percent(1300, 1000), "130%");
    EXPECT_EQ(format_bar(0, 1000, 10), "[........]");
    EXPECT_EQ(format_bar(1, 1000, 10), "[-.......]") << "less than one cell is no full cell";
    EXPECT_EQ(format_bar(124, 1000, 10), "[-.......]");
    EXPECT_EQ(format_bar(125, 1000, 10), "[#.......]");
    EXPECT_EQ(format_bar(999, 1000, 10), "[#######.]");
    EXPECT_EQ(format_bar(1000, 1000, 10), "[########]");
    EXPECT_EQ(format_bar(kMost, 1, 10), "[########]");
}

TEST(Format, APartOfAnUnknownWholeHasNoPercentageAndNoBar) {
    EXPECT_EQ(format_percent(5, std::nullopt), "-");
    EXPECT_EQ(format_percent(5, 0), "-");
    EXPECT_EQ(format_bar(5, std::nullopt, 10), "");
    EXPECT_EQ(format_bar(5, 0, 10), "");
}

TEST(Format, ConsecutiveIdsAreARange) {
    EXPECT_EQ(format_ids({}), "-");
    EXPECT_EQ(format_ids({3}), "3");
    EXPECT_EQ(format_ids({0, 1}), "0,1");
    EXPECT_EQ(format_ids({0, 1, 2, 3, 7}), "0-3,7");
    EXPECT_EQ(format_ids({0, 2, 4, 5, 6}), "0,2,4-6");
    EXPECT_EQ(format_ids({4294967295}), "4294967295");
}

TEST(Format, OneDeviceIsSingularAndSeveralArePlural) {
    EXPECT_EQ(format_devices({9}), "device 9");
    EXPECT_EQ(format_devices({9, 10, 11, 40}), "devices 9-11,40");
    EXPECT_EQ(format_count(1, "event", "events"), "1 event");
    EXPECT_EQ(format_count(0, "event", "events"), "0 events");
}

TEST(Format, WidthCountsTerminalColumns) {
    EXPECT_EQ(display_width("decoder"), 7u);
    EXPECT_EQ(display_width("µ"), 1u);
    EXPECT_EQ(display_width("漢字"), 4u);
    EXPECT_EQ(display_width("🙂"), 2u);
    EXPECT_EQ(display_width("e\u0301"), 1u);
}

TEST(Format, CutTextsHaveAnEllipsisAndFit) {
    EXPECT_EQ(cut_end("decoder.3", 9), "decoder.3");
    EXPECT_EQ(cut_end("decoder.3/kv_cache", 9), "decode...");
    EXPECT_EQ(cut_beginning("decoder.3/kv_cache", 11), "...kv_cache");
    EXPECT_EQ(cut_end("abcdef", 2), "..");
    EXPECT_EQ(cut_beginning("abcdef", 3), "...");
    for (size_t width = 0; width < 12; ++width) {
        EXPECT_LE(display_width(cut_end("漢字🙂漢字🙂", width)), width);
        EXPECT_LE(display_width(cut_beginning("漢字🙂漢字🙂", width)), width);
    }
}

}  // namespace
}  // namespace ttmem::view
