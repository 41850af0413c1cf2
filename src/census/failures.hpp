// SPDX-License-Identifier: Apache-2.0
#pragma once

// What did not work: allocations that found no room, circular buffers that clashed, frees of something unknown. A process
// keeps the first and the last few of each type, and counts all.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "census/census.hpp"
#include "census/figures.hpp"

namespace ttmem::census {

using segment::FailureType;

// "out_of_memory", "cb_clash", "unknown_free".
std::string_view name_of(FailureType type);
std::optional<FailureType> failure_type_by_name(std::string_view name);

// The allocation in the way of circular buffers, as it was then.
struct Blocker {
    std::optional<Kind> kind;
    uint64_t address = 0;
    uint64_t requested = 0;
    uint64_t used = 0;
    uint64_t owner = 0;
    std::string name;

    bool operator==(const Blocker&) const = default;
};

// What a type of failure does not have is absent. Bytes are those on each of the devices.
struct FailureFigures {
    uint32_t pid = 0;
    FailureType type = FailureType::out_of_memory;
    std::string verdict;   // in a word or two: "too big", "not enough", "fragmented", "clash", "unknown free"
    uint64_t time_ns = 0;  // since the epoch
    uint64_t age_ns = 0;
    std::vector<uint32_t> devices;
    std::string set;
    std::optional<Kind> kind;
    std::string name;  // where in the program it happened
    uint32_t thread = 0;
    std::optional<uint64_t> requested;
    std::optional<uint64_t> needed;        // bytes in one bank, rounded as the allocator does
    std::optional<uint64_t> free;          // bytes in one bank
    std::optional<uint64_t> largest_free;  // the largest block in one bank
    std::optional<uint64_t>
        missing;  // by how many bytes it failed: of needed to largest_free, or the overlap of a clash
    std::optional<uint64_t> cb_end;         // a clash: the address where circular buffers end ...
    std::optional<uint64_t> lowest_buffer;  // ... and that of the lowest L1 buffer
    std::optional<Core> core;               // one on which they clash
    std::optional<uint64_t> program;
    std::optional<Blocker> blocker;
    std::optional<uint64_t> address;        // an unknown free: what was to be freed ...
    std::optional<int32_t> logical_device;  // ... and on which device, as the process calls it

    bool operator==(const FailureFigures&) const = default;
};

// How many there ever were.
struct FailureCounts {
    uint32_t pid = 0;
    uint64_t out_of_memory = 0;
    uint64_t cb_clash = 0;
    uint64_t unknown_free = 0;

    uint64_t sum() const { return out_of_memory + cb_clash + unknown_free; }
    bool operator==(const FailureCounts&) const = default;
};

struct FailureQuery {
    std::optional<std::string> device = {};
    std::optional<uint32_t> pid = {};
    std::optional<FailureType> type = {};
    uint64_t limit = 0;  // 0: all
};

struct FailurePage {
    std::vector<FailureFigures> failures;  // the last first
    uint64_t total = 0;                    // that are kept and match
    std::vector<FailureCounts> counts;     // by process asked for, where it ever had one; on all devices
};

// An error where the device or the process asked for is not there.
base::Expected<FailurePage> list_failures(const Census& census, const FailureQuery& query);

}  // namespace ttmem::census
