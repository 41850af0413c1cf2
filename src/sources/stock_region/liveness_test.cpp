// SPDX-License-Identifier: Apache-2.0
#include "sources/stock_region/liveness.hpp"

#include <gtest/gtest.h>

#include <string>

namespace ttmem::sources::stock_region {
namespace {

std::string stat_of(const std::string& state, const std::string& flags, const std::string& threads,
                    const std::string& command = "python3") {
    return "4711 (" + command + ") " + state + " 1 1 1 0 -1 " + flags + " 10 11 12 13 14 15 16 17 18 19 " +
           threads + " 0 250 23\n";
}

TEST(Liveness, ARunningOrStoppedProcessHoldsMemory) {
    for (const char* state : {"R", "S", "D", "T", "t", "I"}) {
        EXPECT_TRUE(can_hold_memory(stat_of(state, "4194304", "1"))) << state;
    }
}

TEST(Liveness, AZombieHoldsNone) {
    EXPECT_FALSE(can_hold_memory(stat_of("Z", "4194304", "1")));
    EXPECT_FALSE(can_hold_memory(stat_of("Z", "4194304", "0")));
    EXPECT_FALSE(can_hold_memory(stat_of("X", "4194304", "1")));
}

TEST(Liveness, AProcessWhoseMainThreadHasEndedHoldsTheMemoryOfItsOtherThreads) {
    EXPECT_TRUE(can_hold_memory(stat_of("Z", "4194304", "2")));
}

TEST(Liveness, AThreadOfTheKernelHoldsNone) { EXPECT_FALSE(can_hold_memory(stat_of("S", "69238880", "1"))); }

TEST(Liveness, ACommandCanNotPretendToBeAState) {
    EXPECT_FALSE(can_hold_memory(stat_of("Z", "0", "1", "a) S 1 1 1 0 -1 0")));
    EXPECT_TRUE(can_hold_memory(stat_of("S", "0", "1", "a) Z 1 1 1 0 -1 0")));
}

TEST(Liveness, TextThatIsNoStatIsNoProcess) {
    for (const char* text : {"", ")", ") ", "4711 (x", "4711 (x)"}) {
        EXPECT_FALSE(can_hold_memory(text)) << text;
    }
}

}  // namespace
}  // namespace ttmem::sources::stock_region
