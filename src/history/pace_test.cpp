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

}  // namespace
}  // namespace ttmem::history
