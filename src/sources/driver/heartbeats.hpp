// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>

namespace ttmem::sources::driver {

// Detects across reads whether the heartbeat counter of each device advances.
class Heartbeats {
public:
    using Time = std::chrono::steady_clock::time_point;

    // Live firmware is assumed to increment its counter several times per second. A counter that stays the same for
    // this long means that the firmware is stuck.
    static constexpr std::chrono::seconds kStuckAfter{1};

    // Starts a read. The counters passed to update() were read between `began` and `ended`, so a slow read does not make a
    // device look stuck. A device that is not passed before the next read is forgotten.
    void start_read(Time began, Time ended);

    // Returns true if the counter has changed (a decrease means that the device was reset), false if it has not changed
    // for kStuckAfter, and the previous result if the reads are too close together to decide.
    std::optional<bool> update(uint32_t device, std::optional<uint32_t> counter);

private:
    struct Heart {
        uint32_t counter = 0;
        Time since;  // the counter had this value by then
        std::optional<bool> is_alive;
    };

    Time began_;
    Time ended_;
    std::map<uint32_t, Heart> before_;
    std::map<uint32_t, Heart> hearts_;
};

}  // namespace ttmem::sources::driver
