// SPDX-License-Identifier: Apache-2.0
#pragma once

// When a recorded host used most memory of a kind.

#include <array>
#include <cstdint>
#include <functional>
#include <memory>

#include "base/error.hpp"
#include "census/kind.hpp"
#include "recording/recording.hpp"

namespace ttmem::recording {

struct RecordedPeak {
    uint64_t time_ns = 0;  // the first moment with so much
    uint64_t used = 0;     // the sum of all sets of all processes

    bool operator==(const RecordedPeak&) const = default;
};

using RecordedPeaks = std::array<RecordedPeak, census::kKinds>;

// Of the wanted kinds. Summaries of blocks say where a peak can be; only what they leave open is replayed, which of a recording
// without summaries is all of it. Calls `goes_on` from time to time meanwhile, and gives what it has if that is false.
base::Expected<RecordedPeaks> find_peaks(const std::shared_ptr<const Recording>& recording,
                                         census::KindSet wanted, const std::function<bool()>& goes_on);

}  // namespace ttmem::recording
