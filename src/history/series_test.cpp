// SPDX-License-Identifier: Apache-2.0
#include "history/series.hpp"

#include <gtest/gtest.h>

namespace ttmem::history {
namespace {

constexpr uint64_t kSecond = 1'000'000'000;

TEST(Series, KeepsEverySecondOfTheLastHour) {
    Series series;
    for (uint64_t i = 0; i < Series::kSeconds; ++i) {
        series.add({i * kSecond, i});
    }
    const auto all = series.since(0);
    ASSERT_EQ(all.size(), Series::kSeconds);
    EXPECT_EQ(all.front(), (Sample{0, 0}));
    EXPECT_EQ(series.since(3598 * kSecond),
              (std::vector<Sample>{{3598 * kSecond, 3598}, {3599 * kSecond, 3599}}));
}

TEST(Series, BeforeThatAMinuteKeepsItsPeak) {
    Series series;
    for (uint64_t i = 0; i < Series::kSeconds + 120; ++i) {
        series.add({i * kSecond, i == 30 ? 1000u : i == 70 ? 500u : 1u});
    }
    const auto all = series.since(0);
    ASSERT_EQ(all.size(), Series::kSeconds + 2);
    EXPECT_EQ(all[0], (Sample{30 * kSecond, 1000}));
    EXPECT_EQ(all[1], (Sample{70 * kSecond, 500}));
}

TEST(Series, NeverGrowsBeyondItsBound) {
    Series series;
    for (uint64_t i = 0; i < 2 * 24 * 3600; ++i) {
        series.add({i * kSecond, i});
    }
    EXPECT_EQ(series.since(0).size(), Series::kSeconds + Series::kMinutes);
}

TEST(Series, ATimeThatGoesBackDoesNotBreakTheOrder) {
    Series series;
    series.add({10, 1});
    series.add({5, 2});
    EXPECT_EQ(series.since(0), (std::vector<Sample>{{10, 1}, {10, 2}}));
}

}  // namespace
}  // namespace ttmem::history
