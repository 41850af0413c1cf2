// SPDX-License-Identifier: Apache-2.0
#pragma once

// The workings of count(): the three steps that it takes for each process with a ledger, and the others.

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "census/arithmetic.hpp"
#include "census/figures.hpp"
#include "census/peak.hpp"
#include "census/report.hpp"
#include "census/worst_core.hpp"

namespace ttmem::census {

// The largest free blocks of several address spaces on one device: the smallest of them, and unknown if any is.
class SmallestFree {
public:
    void add(std::optional<uint64_t> largest);
    std::optional<uint64_t> bytes(std::optional<uint64_t> where_nothing_is_held) const;

private:
    bool is_unknown_ = false;
    std::optional<uint64_t> smallest_;
};

// What is gathered about a device on the way to its figures.
struct Workings {
    std::array<std::vector<PoolPeak>, kDeviceKinds> peaks;
    bool peaks_lost = false;  // a set was recycled, and with it the peaks of the one before
    std::array<SmallestFree, kPoolKinds> free;
    L1Reach l1_reach;
    // Whether anybody who is there tells about a kind, and whether anybody does not.
    std::array<bool, kDeviceKinds> is_told{};
    std::array<bool, kDeviceKinds> is_untold{};
    bool is_count_untold = false;
};

struct Counting {
    explicit Counting(const Census& census);

    std::vector<Report> reports;
    DeviceTable table;
    std::vector<Workings> workings;  // by position of the device
    Figures figures;                 // its devices are all there, described, with amounts of 0
};

// Adds what both have; sums and parts may be of a pool, a device or a process.
template <class Sums, class Part>
void add_to(Sums& sums, const Part& part) {
    sums.used = saturating_add(sums.used, part.used);
    sums.requested = saturating_add(sums.requested, part.requested);
    sums.count = saturating_add(sums.count, part.count);
}

// Adds the pools of a process to the devices; returns what it holds, by device.
std::vector<HeldOnDevice> count_pools(Counting& counting, size_t report);

// Adds what only its ledger tells: where blocks lie, and how high circular buffers reach.
void count_ledger(Counting& counting, size_t report);

// Adds the processes without a ledger: those of which totals are known, and those that have a device open and report nothing.
void count_totals_only(Counting& counting, const Census& census);
void count_untracked(Counting& counting, const Census& census);

// Who holds a device of which the driver does not tell the ASIC id may speak of it under that id, and so as of another one.
void note_unnamed_devices(Counting& counting, const Census& census);

ProcessFigures introduce(const Identity& identity, std::string state, Source source);

// Adds every reason why its figures are less than exact.
void note_inexactness(Counting& counting, size_t report);

}  // namespace ttmem::census
