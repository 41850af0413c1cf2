// SPDX-License-Identifier: Apache-2.0
#pragma once

// The figures of a host at one moment: the allocated memory per device, and the processes that hold it. Plain values
// without references to a segment. Unknown values are absent, never 0.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "census/census.hpp"
#include "census/inexactness.hpp"
#include "census/kind.hpp"

namespace ttmem::census {

// One kind of memory on one device.
struct MemoryFigures {
    uint64_t used = 0;       // reserved bytes, as allocated by the allocator
    uint64_t requested = 0;  // logical bytes
    std::optional<uint64_t> capacity;
    uint64_t peak = 0;
    bool peak_exact = true;  // else a lower bound
    uint64_t count = 0;      // allocations that add bytes
    uint64_t planned = 0;    // hooked allocations, which add no bytes
    uint64_t views = 0;      // views of other allocations, which add no bytes
    // Bytes per bank. A device in several sets has several address spaces: this is the smallest of their largest free
    // blocks, over the open sets that hold something on this device.
    std::optional<uint64_t> largest_free;
    // False if no process on the device reports this kind and at least one does not. Then the amounts are 0 and have
    // no meaning.
    bool is_known = true;
    bool is_count_known = true;

    bool operator==(const MemoryFigures&) const = default;
};

struct Core {
    uint32_t x = 0;
    uint32_t y = 0;

    bool operator==(const Core&) const = default;
};

// The core whose circular buffers are nearest to the L1 buffers. Circular buffers of cached programs share addresses,
// so the highest end of any program counts, not the sum.
struct WorstCore {
    std::optional<Core> core;               // absent: no circular buffers, or unknown cores
    std::optional<uint64_t> cb_top;         // the end address of the circular buffers; absent: none
    std::optional<uint64_t> lowest_buffer;  // the address of the lowest L1 buffer; absent: none
    // From cb_top to lowest_buffer or to the end of L1. Negative for a clash.
    std::optional<int64_t> headroom;
    std::optional<uint64_t> used;      // circular buffers and L1 buffers on this core
    std::optional<uint64_t> capacity;  // allocatable L1 per core

    bool operator==(const WorstCore&) const = default;
};

struct DeviceFigures {
    uint32_t id = 0;
    std::optional<std::string> arch;
    std::optional<std::string> board;
    std::optional<uint64_t> asic_id;
    // Behind another chip, not on the bus; absent: unknown, for example without a driver.
    std::optional<bool> is_remote;
    std::optional<DriverFacts> driver;  // absent: unknown to the driver
    Telemetry telemetry;
    std::array<MemoryFigures, kDeviceKinds> memory;
    std::array<uint64_t, kKernelTypes.size()> kernel_by_type{};  // used bytes
    WorstCore l1_worst_core;

    bool operator==(const DeviceFigures&) const = default;
};

// The memory of one kind that one process holds on one device.
struct Holding {
    uint64_t used = 0;
    uint64_t requested = 0;
    uint64_t count = 0;
    // False if the source does not report it. Then the amounts have no meaning.
    bool is_known = true;
    bool is_count_known = true;

    bool operator==(const Holding&) const = default;
};

struct DeviceHoldings {
    uint32_t id = 0;
    uint32_t logical_id = 0;  // the process's number of the device
    std::array<Holding, kDeviceKinds> memory;

    bool operator==(const DeviceHoldings&) const = default;
};

struct ProcessFigures {
    uint32_t pid = 0;
    uint32_t inner_pid = 0;  // the pid inside its container
    uint64_t start_time_ns = 0;
    std::string comm;
    uint32_t uid = 0;
    std::string user;
    std::optional<Container> container = {};
    ProcessState state = ProcessState::live;
    ProcessSource source = ProcessSource::segment;
    std::vector<DeviceHoldings> devices;
    // Events read from its rings, and events overwritten before they were read; absent: the rings are not followed.
    std::optional<uint64_t> followed = {};
    std::optional<uint64_t> lost = {};
    std::optional<uint64_t> events_per_second = {};  // recent rate of both
    std::optional<uint64_t> resident_bytes = {};     // of host memory; absent: not read, or not known

    bool operator==(const ProcessFigures&) const = default;
};

// A mesh as a process describes it.
struct MeshFigures {
    uint32_t rows = 0;
    uint32_t columns = 0;
    std::vector<uint32_t> devices;  // ids, row by row

    bool operator==(const MeshFigures&) const = default;
};

struct Figures {
    std::vector<DeviceFigures> devices;     // by id
    std::vector<ProcessFigures> processes;  // by pid
    std::vector<Inexactness> inexact;
    // Processes that ended before they could be read, since the daemon started; absent: nobody counts them.
    std::optional<uint64_t> processes_missed = {};
    std::vector<MeshFigures> meshes = {};  // of live processes, the largest first

    bool operator==(const Figures&) const = default;
};

// The effort of compute_figures(). Totals come from the pools, or from the ledger after a death. Free blocks and cores need a
// scan of the ledgers, which is slow with many live allocations; without the scan they are absent.
enum class Depth : uint8_t { pools, ledgers };

// Reads the current figures.
Figures compute_figures(const Census& census, Depth depth = Depth::ledgers);

// The upper bounds of the peaks of one device. Absent: unknown, because a set was recycled.
struct PeakBounds {
    uint32_t device = 0;
    std::array<std::optional<uint64_t>, kDeviceKinds> at_most = {};
};

// For each device of compute_figures(). Only processes with a ledger are considered.
std::vector<PeakBounds> compute_peak_bounds(const Census& census);

}  // namespace ttmem::census
