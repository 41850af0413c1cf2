// SPDX-License-Identifier: Apache-2.0
#pragma once

// Moments of a recording as people write them.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/error.hpp"
#include "recording/recording.hpp"

namespace ttmem::recording {

// "+12.5s" after the beginning, "13:05:20" or "2026-05-01 13:05:20" on the clock of this time zone, "peak:dram" (the moment with the
// most used bytes of a kind, over all devices), "failure:1" (the first failed allocation), "mark:NAME" (the first mark with that name). Errors say what the recording has.
base::Expected<uint64_t> find_moment(const std::shared_ptr<const Recording>& recording,
                                     const std::string& text);

// A recording, and the moment of it that was asked for; absent: none was.
struct OpenedMoment {
    std::shared_ptr<const Recording> recording;
    std::optional<uint64_t> time_ns;
};

// Opens a file or the folder of a flight recorder. Each start of the daemon begins a recording: a clock time is looked for in the
// newest first, and what is no clock time in the newest alone.
base::Expected<OpenedMoment> open_moment(const std::string& path, const std::optional<std::string>& text);

// How long after the beginning: "+12.500s".
std::string after_beginning(const Recording& recording, uint64_t time_ns);

// "2026-05-01 13:05:20".
std::string clock_text(uint64_t epoch_ns);

}  // namespace ttmem::recording
