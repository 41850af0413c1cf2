// SPDX-License-Identifier: Apache-2.0
#include "sources/driver/heartbeats.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ttmem::sources::driver {
namespace {

using std::chrono::milliseconds;

struct Reading {
    int at_ms;
    std::optional<uint32_t> counter;
    std::optional<bool> is_alive;
};

struct Case {
    std::string fact;
    std::vector<Reading> readings;
};

TEST(Heartbeats, DistinguishAnAdvancingCounterFromAStuckOne) {
    const std::vector<Case> cases = {
        {"one read decides nothing", {{0, 5, {}}}},
        {"a counter that counts", {{0, 5, {}}, {1000, 6, true}, {2000, 9, true}}},
        {"a counter that is stuck", {{0, 5, {}}, {1000, 5, false}, {2000, 5, false}}},
        {"one that stops and goes on", {{0, 5, {}}, {1000, 6, true}, {2000, 6, false}, {3000, 7, true}}},
        {"reads too close to decide", {{0, 5, {}}, {400, 5, {}}, {999, 5, {}}, {1000, 5, false}}},
        {"close reads keep the previous result",
         {{0, 5, {}}, {100, 6, true}, {200, 6, true}, {1100, 6, false}}},
        {"a reset sets it back", {{0, 500, {}}, {1000, 1, true}}},
        {"it wraps", {{0, 4294967295, {}}, {1000, 0, true}}},
        {"it was never there", {{0, {}, {}}, {1000, {}, {}}}},
        {"it goes away, and is forgotten", {{0, 5, {}}, {1000, 6, true}, {2000, {}, {}}, {3000, 6, {}}}},
        {"0 is a counter too", {{0, 0, {}}, {1000, 0, false}}},
    };
    for (const Case& c : cases) {
        Heartbeats hearts;
        for (const Reading& reading : c.readings) {
            const Heartbeats::Time now{milliseconds(reading.at_ms)};
            hearts.start_read(now, now);
            EXPECT_EQ(hearts.update(3, reading.counter), reading.is_alive)
                << c.fact << ", at " << reading.at_ms << " ms";
        }
    }
}

TEST(Heartbeats, ADeviceMissingFromAReadIsForgotten) {
    Heartbeats hearts;
    for (const int seconds : {0, 1}) {
        const Heartbeats::Time now{std::chrono::seconds(seconds)};
        hearts.start_read(now, now);
        hearts.update(0, 7);
        hearts.update(1, 7);
    }
    const Heartbeats::Time later{std::chrono::seconds(2)};
    hearts.start_read(later, later);
    EXPECT_EQ(hearts.update(1, 7), false);
    hearts.start_read(later, later);
    EXPECT_EQ(hearts.update(0, 7), std::nullopt);
    EXPECT_EQ(hearts.update(1, 7), false);
}

TEST(Heartbeats, ASlowReadMakesNoDeviceStuck) {
    Heartbeats hearts;
    const Heartbeats::Time start{};
    hearts.start_read(start, start + milliseconds(900));  // the counter may have been read as late as this
    hearts.update(0, 7);
    hearts.start_read(start + milliseconds(1000), start + milliseconds(2500));
    EXPECT_EQ(hearts.update(0, 7), std::nullopt);
    hearts.start_read(start + milliseconds(1900), start + milliseconds(1900));
    EXPECT_EQ(hearts.update(0, 7), false);
}

}  // namespace
}  // namespace ttmem::sources::driver
