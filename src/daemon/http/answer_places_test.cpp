// SPDX-License-Identifier: Apache-2.0
#include "daemon/http/answer_places.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <new>
#include <vector>

namespace ttmem::daemon::http {
namespace {

using testing::ElementsAre;

constexpr User kAlice = 1000;
constexpr User kBob = 1001;

struct AnswerPlacesTest : testing::Test {
    AnswerPlacesTest() {
        BudgetLimits limits = kBudgetLimits;
        limits[static_cast<size_t>(Budget::answers)] = {3, 4};
        budgets = std::make_shared<Budgets>(limits);
        places = std::make_unique<AnswerPlaces>(budgets);
    }

    // Identifies an answer by a number.
    const void* who(int number) const { return &names[static_cast<size_t>(number)]; }
    void enter(int number, User user, uint64_t wanted = 1) {
        places->enter(who(number), user, wanted, [this, number] { begun.push_back(number); });
    }
    uint64_t used_by(User user) const { return budgets->used_by(Budget::answers, user); }

    std::vector<char> names = std::vector<char>(20);
    std::shared_ptr<Budgets> budgets;
    std::unique_ptr<AnswerPlaces> places;
    std::vector<int> begun;
};

TEST_F(AnswerPlacesTest, AnAnswerBeyondTheShareWaitsInOrder) {
    for (int i = 0; i < 5; ++i) {
        enter(i, kAlice);
    }
    EXPECT_THAT(begun, ElementsAre(0, 1, 2));
    EXPECT_TRUE(places->leave(who(1)));
    EXPECT_THAT(begun, ElementsAre(0, 1, 2, 3));
    EXPECT_TRUE(places->leave(who(0)));
    EXPECT_THAT(begun, ElementsAre(0, 1, 2, 3, 4));
    EXPECT_EQ(used_by(kAlice), 3u);
    EXPECT_EQ(budgets->uses()[static_cast<size_t>(Budget::answers)].refused, 0u) << "it is not a refusal";
}

TEST_F(AnswerPlacesTest, UsersDoNotWaitForEachOther) {
    for (int i = 0; i < 5; ++i) {
        enter(i, kAlice);
    }
    enter(5, kBob);
    EXPECT_THAT(begun, ElementsAre(0, 1, 2, 5));
}

TEST_F(AnswerPlacesTest, PlacesThatAllShareGoToUsersInTurn) {
    for (int i = 0; i < 4; ++i) {
        enter(i, i < 3 ? kAlice : kBob);
    }
    enter(4, kAlice);
    enter(5, kBob);
    enter(6, kAlice);
    EXPECT_THAT(begun, ElementsAre(0, 1, 2, 3)) << "all places are taken";
    places->leave(who(0));
    places->leave(who(1));
    EXPECT_EQ(begun.size(), 6u);
    EXPECT_EQ(used_by(kBob), 2u) << "one of the two was for each";
    EXPECT_EQ(used_by(kAlice), 2u);
}

TEST_F(AnswerPlacesTest, ALargeAnswerIsOvertakenAndNeverNeedsMoreThanTheShare) {
    enter(0, kAlice);
    enter(1, kAlice, 100);
    enter(2, kAlice);
    EXPECT_THAT(begun, ElementsAre(0, 2));
    places->leave(who(0));
    EXPECT_THAT(begun, ElementsAre(0, 2));
    places->leave(who(2));
    EXPECT_THAT(begun, ElementsAre(0, 2, 1));
    EXPECT_EQ(used_by(kAlice), 3u);
}

TEST_F(AnswerPlacesTest, WhoLeavesWhileWaitingIsNotBegun) {
    for (int i = 0; i < 5; ++i) {
        enter(i, kAlice);
    }
    EXPECT_TRUE(places->leave(who(3)));
    EXPECT_FALSE(places->leave(who(3)));
    places->leave(who(0));
    EXPECT_THAT(begun, ElementsAre(0, 1, 2, 4));
    for (const int i : {1, 2, 4}) {
        places->leave(who(i));
    }
    EXPECT_TRUE(places->is_empty());
    EXPECT_EQ(used_by(kAlice), 0u);
}

TEST_F(AnswerPlacesTest, AnAnswerThatCannotBeginHoldsItsPlaceUntilItLeaves) {
    places->enter(who(0), kAlice, 1, [] { throw std::bad_alloc(); });
    enter(1, kAlice);
    EXPECT_THAT(begun, ElementsAre(1));
    places->leave(who(0));
    places->leave(who(1));
    EXPECT_EQ(used_by(kAlice), 0u);
}

TEST_F(AnswerPlacesTest, TheEndGivesAllPlacesBack) {
    enter(0, kAlice);
    enter(1, kBob, 3);
    places.reset();
    EXPECT_EQ(used_by(kAlice) + used_by(kBob), 0u);
}

}  // namespace
}  // namespace ttmem::daemon::http
