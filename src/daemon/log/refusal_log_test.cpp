// SPDX-License-Identifier: Apache-2.0
#include "daemon/log/refusal_log.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace ttmem::daemon {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

constexpr uint64_t kSecond = 1'000'000'000;

struct RefusalLogTest : testing::Test {
    static BudgetLimits limits() {
        BudgetLimits limits = kBudgetLimits;
        limits[static_cast<size_t>(Budget::log_lines)] = {2, 5};
        return limits;
    }
    void write(User user, int times) {
        for (int i = 0; i < times; ++i) {
            log.write(user, "user " + std::to_string(user));
        }
    }

    uint64_t now = 100 * kSecond;
    std::vector<std::string> lines;
    Budgets budgets{limits()};
    RefusalLog log{budgets, [this](const std::string& line) { lines.push_back(line); },
                   [this] { return now; }};
};

TEST_F(RefusalLogTest, AUserHasSoManyLinesPerSecondAndTheNextLineSaysHowManyAreMissing) {
    write(1000, 5);
    EXPECT_THAT(lines, ElementsAre("user 1000", "user 1000"));
    now += kSecond - 1;
    write(1000, 1);
    EXPECT_THAT(lines, SizeIs(2));
    now += 1;
    write(1000, 2);
    EXPECT_THAT(lines, ElementsAre("user 1000", "user 1000",
                                   "user 1000 (4 lines about this user left out before)", "user 1000"));
}

TEST_F(RefusalLogTest, OneLineLeftOutIsNamedAsOne) {
    write(1000, 3);
    now += kSecond;
    write(1000, 1);
    EXPECT_EQ(lines.back(), "user 1000 (1 line about this user left out before)");
}

TEST_F(RefusalLogTest, OneUserLeavesTheLinesOfAnotherAlone) {
    write(1000, 100);
    write(1001, 2);
    EXPECT_THAT(lines, ElementsAre("user 1000", "user 1000", "user 1001", "user 1001"));
}

TEST_F(RefusalLogTest, AllUsersTogetherHaveALimitToo) {
    for (User user = 1; user <= 10; ++user) {
        write(user, 1);
    }
    EXPECT_THAT(lines, SizeIs(5));
    now += kSecond;
    write(10, 1);
    EXPECT_EQ(lines.back(), "user 10 (1 line about this user left out before)");
}

TEST_F(RefusalLogTest, EachLineLeftOutIsARefusalOfTheBudget) {
    write(1000, 5);
    const BudgetUse use = budgets.uses()[static_cast<size_t>(Budget::log_lines)];
    EXPECT_EQ(use.refused, 3u);
    EXPECT_EQ(use.used, 2u);
}

TEST_F(RefusalLogTest, ItsEndGivesBackWhatItTook) {
    {
        RefusalLog other(
            budgets, [](const std::string&) {}, [] { return uint64_t{1}; });
        other.write(7, "a line");
        EXPECT_EQ(budgets.used_by(Budget::log_lines, 7), 1u);
    }
    EXPECT_EQ(budgets.used_by(Budget::log_lines, 7), 0u);
}

TEST_F(RefusalLogTest, VeryManyUsersTakeNoMoreMemory) {
    for (User user = 1; user <= 10'000; ++user) {
        write(user, 1);
    }
    now += kSecond;
    write(kUnknownUser, 1);
    EXPECT_EQ(lines.back(), "user -1 (8971 lines about this user left out before)");
}

}  // namespace
}  // namespace ttmem::daemon
