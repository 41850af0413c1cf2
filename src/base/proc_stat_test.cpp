// SPDX-License-Identifier: Apache-2.0
#include "base/proc_stat.hpp"

#include <gtest/gtest.h>

#include <string_view>

namespace ttmem::base {
namespace {

uint64_t start_time(std::string_view text) { return parse_start_time(text.data(), text.size()); }

constexpr std::string_view kTail = " S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 987654321 20 21 22 23\n";

TEST(ProcStat, StartTimeIsField22) { EXPECT_EQ(start_time("42 (python3)" + std::string(kTail)), 987654321u); }

TEST(ProcStat, ACommandWithBlanksAndParenthesesDoesNotShiftTheFields) {
    EXPECT_EQ(start_time("42 (a b) c) (d)" + std::string(kTail)), 987654321u);
}

TEST(ProcStat, FieldsAreFoundByTheirNumber) {
    const std::string text = "42 (x) y)" + std::string(kTail);
    EXPECT_EQ(stat_state(text.data(), text.size()), 'S');
    EXPECT_EQ(stat_number(text.data(), text.size(), StatField::parent), 1u);
    EXPECT_EQ(stat_number(text.data(), text.size(), StatField::flags), 6u);
    EXPECT_EQ(stat_number(text.data(), text.size(), StatField::threads), 17u);
    EXPECT_EQ(stat_number(text.data(), text.size(), StatField::resident_pages), 21u);
    EXPECT_EQ(stat_state("42 (x", 5), '\0');
}

TEST(ProcStat, WhatTheKernelDidNotWriteIsZero) {
    for (const std::string_view text :
         {"", "42", "42 (x", "42 (x)", "42 (x) S 1 2", "42 (x) S 1 2 3 4 5 6 7 8 9 "}) {
        EXPECT_EQ(start_time(text), 0u) << text;
    }
}

}  // namespace
}  // namespace ttmem::base
