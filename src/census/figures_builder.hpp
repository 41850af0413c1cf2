// SPDX-License-Identifier: Apache-2.0
#pragma once

// The parts of compute_figures(): the steps for each process with a ledger, and the processes without one.

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "census/arithmetic.hpp"
#include "census/device_table.hpp"
#include "census/figures.hpp"
#include "census/peak.hpp"
#include "census/worst_core.hpp"

namespace ttmem::census {

// The smallest of the largest free blocks of all address spaces on one device. Unknown if one of them is unknown.
class SmallestFree {
public:
    void add(std::optional<uint64_t> largest);
    std::optional<uint64_t> bytes(std::optional<uint64_t> where_nothing_is_held) const;

private:
    bool is_unknown_ = false;
    std::optional<uint64_t> smallest_;
};

// Intermediate values per device.
struct PartialFigures {
    std::array<std::vector<PoolPeak>, kDeviceKinds> peaks;
    bool peaks_lost = false;  // a set was recycled, which loses the peaks of the earlier set
    std::array<SmallestFree, kPoolKinds> free;
    L1Reach l1_reach;
    bool is_l1_reach_unknown = false;  // a ledger that was not scanned
    // Whether some process reports a kind, and whether some process does not.
    std::array<bool, kDeviceKinds> is_reported{};
    std::array<bool, kDeviceKinds> is_unreported{};
    bool is_count_unreported = false;
};

struct FiguresBuilder {
    explicit FiguresBuilder(const Census& census);

    WorkShares shares;
    std::vector<Report> reports;
    DeviceTable table;
    std::vector<bool> is_scan_skipped;    // by report
    std::vector<PartialFigures> partial;  // by position of the device
    Figures figures;                      // contains all devices, described, with amounts of 0
};

// Adds the members that both types have. Both may describe a pool, a device or a process.
template <class Sums, class Part>
void add_to(Sums& sums, const Part& part) {
    sums.used = saturating_add(sums.used, part.used);
    sums.requested = saturating_add(sums.requested, part.requested);
    sums.count = saturating_add(sums.count, part.count);
}

// Adds the pools of a process to the devices. Returns its holdings per device.
std::vector<DeviceHoldings> add_pools(FiguresBuilder& builder, size_t report);

// Adds the values that need a ledger scan: free blocks and the end of circular buffers. They are unknown where the
// user's share of work does not suffice.
void add_ledger(FiguresBuilder& builder, size_t report);

// Adds the processes without a ledger: those with known totals, and those that have a device open but report nothing.
void add_totals_only(FiguresBuilder& builder, const Census& census);
void add_untracked(FiguresBuilder& builder, const Census& census);

// If the driver does not report the ASIC id of a device, a process may report that device under its ASIC id, which
// then counts as another device.
void note_unnamed_devices(FiguresBuilder& builder, const Census& census);

// Processes that name a device by its number only, where others use the number for another device.
void note_ambiguous_numbers(FiguresBuilder& builder, const Census& census);

// Numbers that this view gave to devices itself, if it can't see every process: others may have given other numbers.
void note_own_numbers(FiguresBuilder& builder, const Census& census);

// Devices that processes of different users, or a process and the driver, describe differently.
void note_disputes(FiguresBuilder& builder);

ProcessFigures describe_process(const Identity& identity, ProcessState state, ProcessSource source);

// Adds every reason for which the figures of a process are not exact.
void note_inexactness(FiguresBuilder& builder, size_t report);

}  // namespace ttmem::census
