// SPDX-License-Identifier: Apache-2.0
#include "daemon/budgets.hpp"

#include <gtest/gtest.h>

namespace ttmem::daemon {
namespace {

constexpr User kAlice = 1000;
constexpr User kBob = 1001;

BudgetLimits limits_of_answers(uint64_t per_user, uint64_t total) {
    BudgetLimits limits = kBudgetLimits;
    limits[static_cast<size_t>(Budget::answers)] = {per_user, total};
    return limits;
}

BudgetUse use_of(const Budgets& budgets, Budget budget) {
    return budgets.uses()[static_cast<size_t>(budget)];
}

TEST(Budgets, AUserBeyondTheShareIsRefusedAloneAndCounted) {
    Budgets budgets(limits_of_answers(2, 10));
    EXPECT_TRUE(budgets.take(Budget::answers, kAlice));
    EXPECT_TRUE(budgets.take(Budget::answers, kAlice));
    EXPECT_FALSE(budgets.take(Budget::answers, kAlice));
    EXPECT_TRUE(budgets.take(Budget::answers, kBob));
    EXPECT_EQ(use_of(budgets, Budget::answers).refused, 1u);
    EXPECT_EQ(use_of(budgets, Budget::answers).used, 3u);
    EXPECT_EQ(use_of(budgets, Budget::answers).largest_share, 2u);
    EXPECT_EQ(use_of(budgets, Budget::processes).refused, 0u);
}

TEST(Budgets, TheTotalBoundsAllUsersTogether) {
    Budgets budgets(limits_of_answers(2, 3));
    EXPECT_TRUE(budgets.take(Budget::answers, kAlice, 2));
    EXPECT_FALSE(budgets.take(Budget::answers, kBob, 2));
    EXPECT_TRUE(budgets.take(Budget::answers, kBob));
    EXPECT_FALSE(budgets.has_room(Budget::answers, kBob));
}

TEST(Budgets, WhatIsGivenBackCanBeTakenAgain) {
    Budgets budgets(limits_of_answers(2, 3));
    EXPECT_TRUE(budgets.take(Budget::answers, kAlice, 2));
    budgets.give_back(Budget::answers, kAlice, 1);
    EXPECT_EQ(budgets.used_by(Budget::answers, kAlice), 1u);
    EXPECT_TRUE(budgets.take(Budget::answers, kAlice));
    budgets.give_back(Budget::answers, kAlice, 2);
    EXPECT_EQ(budgets.used_by(Budget::answers, kAlice), 0u);
}

TEST(Budgets, AnAmountThatNoSumCanHoldIsRefused) {
    Budgets budgets(limits_of_answers(2, 3));
    EXPECT_TRUE(budgets.take(Budget::answers, kAlice));
    EXPECT_FALSE(budgets.take(Budget::answers, kAlice, UINT64_MAX));
    EXPECT_EQ(budgets.used_by(Budget::answers, kAlice), 1u);
}

TEST(Budgets, ARefusedQuestionWhetherThereIsRoomIsNotCounted) {
    Budgets budgets(limits_of_answers(0, 0));
    EXPECT_FALSE(budgets.has_room(Budget::answers, kAlice));
    EXPECT_EQ(use_of(budgets, Budget::answers).refused, 0u);
}

}  // namespace
}  // namespace ttmem::daemon
