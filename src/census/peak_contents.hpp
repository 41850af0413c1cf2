// SPDX-License-Identifier: Apache-2.0
#pragma once

// What each process held at the moment when its requested bytes were highest: the live allocations of its ledger, with the events
// of its rings undone one by one. Rings keep the last events only, so the result says how far back they reach.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "census/census.hpp"
#include "census/kind.hpp"

namespace ttmem::census {

struct PeakQuery {
    // As in census::Filter, but one device only. Absent: all device sets; a mesh allocation counts once.
    std::optional<std::string> device = {};
    std::optional<uint32_t> pid = {};
    Kind kind = Kind::dram;
    uint64_t limit = 0;  // names of each process; 0: all

    bool operator==(const PeakQuery&) const = default;
};

struct PeakName {
    std::string name;
    uint64_t requested = 0;
    uint64_t count = 0;

    bool operator==(const PeakName&) const = default;
};

// Times are nanoseconds since the epoch. What adds no bytes (planned, views) is left out.
struct ProcessPeak {
    uint32_t pid = 0;
    std::string comm = {};
    uint64_t time_ns = 0;  // the first moment with this many requested bytes
    uint64_t requested = 0;
    uint64_t count = 0;
    uint64_t requested_now = 0;
    // The highest used bytes, from the counters. Absent if several device sets have held this kind: their peaks have no common time.
    std::optional<uint64_t> used_peak = {};
    // Records before this time are missing, so the peak may lie earlier. Absent: there are records of the whole life.
    std::optional<uint64_t> since_ns = {};
    uint64_t missing_records = 0;
    uint64_t total = 0;                // names at that moment
    std::vector<PeakName> names = {};  // the largest of them

    uint64_t left_out() const { return total - names.size(); }
    bool operator==(const ProcessPeak&) const = default;
};

struct PeakPage {
    std::vector<ProcessPeak> processes;  // by pid; those that have ever held this kind
    std::vector<Inexactness> inexact;
};

// Records that are read for one user, half of them for those that are written meanwhile. Processes of one user share them equally. If
// a process has more, each of its rings has the same number, and the oldest records are left out.
constexpr uint64_t kMostPeakRecords = uint64_t{1} << 20;

// `now_ns` is the present since the epoch. At most `most_rows` names in all.
base::Expected<PeakPage> find_peaks(const Census& census, const PeakQuery& query, uint64_t now_ns,
                                    uint64_t most_rows = UINT64_MAX,
                                    uint64_t most_records = kMostPeakRecords);

}  // namespace ttmem::census
