// SPDX-License-Identifier: Apache-2.0
#include "history/pace.hpp"

#include <gtest/gtest.h>

namespace ttmem::history {
namespace {

TEST(Pace, IdleBacksOffToAHundredMilliseconds) {
    Pace pace;
    EXPECT_EQ(pace.after(0).count(), 10);
    EXPECT_EQ(pace.after(0).count(), 20);
    for (int i = 0; i < 10; ++i) {
        pace.after(0);
    }
    EXPECT_EQ(pace.after(0).count(), 100);
    EXPECT_EQ(pace.after(1).count(), 20);
}

TEST(Pace, BusyAimsAtSomeThousandEventsPerScan) {
    Pace pace;
    EXPECT_EQ(pace.after(1).count(), 20) << "few events";
    EXPECT_EQ(pace.after(4096).count(), 10);
    EXPECT_EQ(pace.after(2048).count(), 10);
    EXPECT_EQ(pace.after(UINT64_MAX).count(), 5);
    EXPECT_EQ(pace.after(1000).count(), 10);
}

TEST(Pace, ScansWithoutAHurryCoincide) {
    constexpr uint64_t kMs = 1'000'000;
    Pace few;
    EXPECT_EQ(few.next_scan_ns(1'000'003 * kMs, 1), 1'000'020 * kMs);
    EXPECT_EQ(few.next_scan_ns(1'000'020 * kMs, 0), 1'000'060 * kMs);
    Pace other;
    other.after(1);
    EXPECT_EQ(other.next_scan_ns(1'000'021 * kMs, 0), 1'000'060 * kMs);
    Pace many;
    EXPECT_EQ(many.next_scan_ns(1'000'003 * kMs, UINT64_MAX), 1'000'008 * kMs);
}

}  // namespace
}  // namespace ttmem::history
