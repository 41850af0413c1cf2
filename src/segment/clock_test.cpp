// SPDX-License-Identifier: Apache-2.0
#include "segment/clock.hpp"

#include <gtest/gtest.h>

namespace ttmem::segment {

namespace {

constexpr uint64_t kSecond = 1'000'000'000;
constexpr uint64_t kDay = 86'400 * kSecond;

}  // namespace

TEST(Clock, MonotonicTicksAreNanoseconds) {
    const Clock clock(ClockKind::monotonic_ns, {5, 5}, {100 * kSecond, 100 * kSecond});
    EXPECT_EQ(7 * kSecond, clock.monotonic_ns(7 * kSecond));
    EXPECT_EQ(93 * kSecond, clock.age_ns(7 * kSecond));
    EXPECT_EQ(100 * kSecond, clock.monotonic_ns(UINT64_MAX)) << "the future is now";
    EXPECT_EQ(0u, clock.age_ns(UINT64_MAX));
}

TEST(Clock, TheRateOfTheCounterFollowsFromTwoMoments) {
    // 3 ticks a nanosecond, from 10 s to 20 s.
    const Clock clock(ClockKind::tsc, {1'000, 10 * kSecond}, {1'000 + 30 * kSecond, 20 * kSecond});
    EXPECT_EQ(20 * kSecond, clock.monotonic_ns(1'000 + 30 * kSecond));
    EXPECT_NEAR(15e9, static_cast<double>(clock.monotonic_ns(1'000 + 15 * kSecond)), 2);
    EXPECT_NEAR(10e9, static_cast<double>(clock.monotonic_ns(1'000)), 2);
    EXPECT_NEAR(5e9, static_cast<double>(clock.age_ns(1'000 + 15 * kSecond)), 2);
}

TEST(Clock, AnEventOfLastWeekIsPreciseToAMicrosecond) {
    // 2.4 ticks a nanosecond for 60 days: more than 52 bits of ticks.
    const uint64_t days = 60 * kDay;
    const Clock clock(ClockKind::tsc, {0, 0}, {days / 5 * 12, days});
    const uint64_t week = 7 * kDay;
    EXPECT_NEAR(static_cast<double>(week), static_cast<double>(clock.age_ns((days - week) / 5 * 12)), 1'000);
}

TEST(Clock, EventsFromBeforeTheFirstMomentAreBeforeIt) {
    const Clock clock(ClockKind::tsc, {10 * kSecond, 10 * kSecond}, {20 * kSecond, 20 * kSecond});
    EXPECT_NEAR(5e9, static_cast<double>(clock.monotonic_ns(5 * kSecond)), 2);
    EXPECT_EQ(0u, Clock(ClockKind::tsc, {90, 1}, {100, 1'000'000}).monotonic_ns(0))
        << "before boot is at boot";
}

TEST(Clock, NothingThatASegmentSaysGivesATimeAfterNow) {
    const Moment nows[] = {{0, 0}, {1, 1}, {100, 50}, {kSecond, UINT64_MAX}, {UINT64_MAX, kSecond}};
    const uint64_t values[] = {
        0, 1, 49, 50, 51, 99, 100, 101, kSecond, UINT64_MAX / 2, UINT64_MAX - 1, UINT64_MAX};
    for (const ClockKind kind : {ClockKind::monotonic_ns, ClockKind::tsc}) {
        for (const Moment& now : nows) {
            for (const uint64_t then_ticks : values) {
                for (const uint64_t then_ns : values) {
                    const Clock clock(kind, {then_ticks, then_ns}, now);
                    for (const uint64_t ticks : values) {
                        ASSERT_LE(clock.monotonic_ns(ticks), now.monotonic_ns);
                        ASSERT_LE(clock.age_ns(ticks), now.monotonic_ns);
                    }
                }
            }
        }
    }
}

TEST(Clock, LaterTicksAreNeverEarlier) {
    const Clock clock(ClockKind::tsc, {1'000, 10 * kSecond}, {1'000 + 30 * kSecond, 20 * kSecond});
    uint64_t last = 0;
    for (uint64_t ticks = 0; ticks < 40 * kSecond; ticks += kSecond / 97) {
        ASSERT_GE(clock.monotonic_ns(ticks), last);
        last = clock.monotonic_ns(ticks);
    }
}

TEST(Clock, NowIsReadOnBothClocks) {
    const Moment first = Clock::now(ClockKind::monotonic_ns);
    EXPECT_EQ(first.ticks, first.monotonic_ns);
    const Moment second = Clock::now(ClockKind::tsc);
    EXPECT_GE(second.monotonic_ns, first.monotonic_ns);
    EXPECT_NE(0u, second.ticks);
}

}  // namespace ttmem::segment
