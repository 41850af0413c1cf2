// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>

namespace ttmem::sources::driver {

// Tells hearts that beat from hearts that stand still, from look to look.
class Heartbeats {
public:
    using Time = std::chrono::steady_clock::time_point;

    // We assume that a firmware which lives counts on several times a second, so that standing still for this
    // long means that it is stuck.
    static constexpr std::chrono::seconds kStuckAfter{1};

    // What is seen from here on was read between these two, and no heart is called stuck for a look that took
    // long. A device that is not seen until the next look is forgotten.
    void start_look(Time began, Time ended);

    // True where the counter has changed (back too: the device was reset), false where it stands still for long enough,
    // and what was known before where the looks are too close to each other to tell.
    std::optional<bool> see(uint32_t device, std::optional<uint32_t> counter);

private:
    struct Heart {
        uint32_t counter = 0;
        Time since;  // it was this by then
        std::optional<bool> is_alive;
    };

    Time began_;
    Time ended_;
    std::map<uint32_t, Heart> before_;
    std::map<uint32_t, Heart> hearts_;
};

}  // namespace ttmem::sources::driver
