// SPDX-License-Identifier: Apache-2.0
#pragma once

// The figures of a host at one moment: what each device has given away and who holds it. Plain values, with nothing of a
// segment left in them. What is not known is absent, and never 0.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "census/census.hpp"
#include "census/kind.hpp"

namespace ttmem::census {

// One kind of memory on one device.
struct MemoryFigures {
    uint64_t used = 0;       // reserved bytes: what the allocator has given away
    uint64_t requested = 0;  // their logical bytes
    std::optional<uint64_t> capacity;
    uint64_t peak = 0;
    bool peak_exact = true;  // else a lower bound
    uint64_t count = 0;      // allocations that add bytes
    uint64_t planned = 0;    // hooked ones, which add none
    uint64_t views = 0;      // of memory that others own: add none
    // Bytes in one bank. A device in several sets has several address spaces: this is the smallest of their largest
    // free blocks, over the open sets that hold something here.
    std::optional<uint64_t> largest_free;
    // False: somebody is there who does not tell, and nobody who does. Then the amounts are 0 and mean nothing.
    bool is_known = true;
    bool is_count_known = true;

    bool operator==(const MemoryFigures&) const = default;
};

struct Core {
    uint32_t x = 0;
    uint32_t y = 0;

    bool operator==(const Core&) const = default;
};

// The core whose circular buffers come nearest to the L1 buffers. Circular buffers of several cached programs share
// addresses, so not their sum counts but how high any one program's reach.
struct WorstCore {
    std::optional<Core> core;               // absent: there are none, or their cores are not known
    std::optional<uint64_t> cb_top;         // the address where they end; absent: there are none
    std::optional<uint64_t> lowest_buffer;  // the lowest L1 buffer; absent: there is none
    std::optional<int64_t> headroom;   // from the one to the other, or to the end of L1; below 0 is a clash
    std::optional<uint64_t> used;      // circular buffers and L1 buffers on this core
    std::optional<uint64_t> capacity;  // allocatable L1 of one core

    bool operator==(const WorstCore&) const = default;
};

struct DeviceFigures {
    uint32_t id = 0;
    std::optional<std::string> arch;
    std::optional<std::string> board;
    std::optional<uint64_t> asic_id;
    std::optional<bool>
        is_remote;  // it is behind another chip, and not on the bus; absent: there is no driver to ask
    std::optional<DriverFacts> driver;  // absent: the driver does not know it
    Telemetry telemetry;
    std::array<MemoryFigures, kDeviceKinds> memory;
    std::array<uint64_t, kKernelTypes.size()> kernel_by_type{};  // used bytes
    WorstCore l1_worst_core;

    bool operator==(const DeviceFigures&) const = default;
};

// What one process holds of one kind on one device.
struct Held {
    uint64_t used = 0;
    uint64_t requested = 0;
    uint64_t count = 0;
    bool is_known = true;  // false: its source can't tell, and the amounts mean nothing
    bool is_count_known = true;

    bool operator==(const Held&) const = default;
};

struct HeldOnDevice {
    uint32_t id = 0;
    uint32_t logical_id = 0;  // what the process itself calls the device
    std::array<Held, kDeviceKinds> memory;

    bool operator==(const HeldOnDevice&) const = default;
};

struct ProcessFigures {
    uint32_t pid = 0;
    uint32_t inner_pid = 0;  // as it is called in its container
    uint64_t start_time_ns = 0;
    std::string comm;
    uint32_t uid = 0;
    std::string user;
    std::optional<Container> container = {};
    std::string state;   // "live", "dead", "untracked": it has devices open and reports nothing
    std::string source;  // "segment", "classic", "stock", "driver"
    std::vector<HeldOnDevice> devices;
    // Events of its rings that were taken up, and those that were overwritten before; absent where nobody follows them.
    std::optional<uint64_t> followed = {};
    std::optional<uint64_t> lost = {};
    std::optional<uint64_t> events_per_second = {};  // of both, lately

    bool operator==(const ProcessFigures&) const = default;
};

// Why a figure is less than exact.
struct Inexactness {
    uint32_t pid = 0;  // 0: of the host
    std::string reason;
    uint64_t count = 0;
    bool skipped = false;  // the whole process is in no figure

    bool operator==(const Inexactness&) const = default;
};

struct Figures {
    std::vector<DeviceFigures> devices;     // by id
    std::vector<ProcessFigures> processes;  // by pid
    std::vector<Inexactness> inexact;

    bool operator==(const Figures&) const = default;
};

// How far to look: totals come from the pools, and after a death from the ledger; free blocks and cores from a scan of the
// ledgers, which takes its time where much is live. What was not looked for is absent.
enum class Depth : uint8_t { pools, ledgers };

// Reads them now.
Figures count(const Census& census, Depth depth = Depth::ledgers);

}  // namespace ttmem::census
