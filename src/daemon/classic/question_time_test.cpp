// SPDX-License-Identifier: Apache-2.0
#include "daemon/classic/question_time.hpp"

#include <gtest/gtest.h>

namespace ttmem::daemon {
namespace {

constexpr uint64_t kMillisecond = 1'000'000;

TEST(QuestionTime, HalfOfTheTimeIsForQuestions) {
    QuestionTime time;
    uint64_t now = 1'000 * kMillisecond;
    uint64_t spent = 0;
    const uint64_t begin = now;
    while (now < begin + 1'000 * kMillisecond) {
        if (time.has_room(now)) {
            time.spend(kMillisecond);
            spent += kMillisecond;
            now += kMillisecond;
        } else {
            now += kMillisecond / 10;
        }
    }
    EXPECT_GE(spent, 450 * kMillisecond);
    EXPECT_LE(spent, 550 * kMillisecond);
}

TEST(QuestionTime, AClientThatAsksWithoutAPauseIsServedAtOnceWhereAnswersAreCheap) {
    QuestionTime time;
    uint64_t now = kMillisecond;
    for (int i = 0; i < 100'000; ++i) {
        ASSERT_TRUE(time.has_room(now)) << i;
        time.spend(3'000);
        now += 10'000;
    }
}

TEST(QuestionTime, ALongComputationIsPaidOffFirst) {
    QuestionTime time;
    ASSERT_TRUE(time.has_room(kMillisecond));
    time.spend(105 * kMillisecond);
    EXPECT_FALSE(time.has_room(106 * kMillisecond));
    EXPECT_FALSE(time.has_room(190 * kMillisecond));
    EXPECT_TRUE(time.has_room(210 * kMillisecond));
}

TEST(QuestionTime, APauseSavesNoMoreThanAFewMilliseconds) {
    QuestionTime time;
    ASSERT_TRUE(time.has_room(3'600'000 * kMillisecond));
    time.spend(6 * kMillisecond);
    EXPECT_FALSE(time.has_room(3'600'000 * kMillisecond));
}

TEST(QuestionTime, AClockThatStandsStillOrGoesBackChangesNothing) {
    QuestionTime time;
    ASSERT_TRUE(time.has_room(100 * kMillisecond));
    time.spend(6 * kMillisecond);
    EXPECT_FALSE(time.has_room(100 * kMillisecond));
    EXPECT_FALSE(time.has_room(50 * kMillisecond));
    EXPECT_FALSE(time.has_room(101 * kMillisecond));
    EXPECT_TRUE(time.has_room(103 * kMillisecond));
}

}  // namespace
}  // namespace ttmem::daemon
