// SPDX-License-Identifier: Apache-2.0
#pragma once

// Failures: out of memory, circular buffer clashes and frees of unknown addresses. A process keeps the first and the
// last few failures of each type, and counts all of them.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "census/census.hpp"
#include "census/failure_card.hpp"
#include "census/figures.hpp"

namespace ttmem::segment {

// base/named_enum.hpp finds this function by the namespace of the enumeration. The segment itself depends only on
// libc.
constexpr auto enum_names(FailureType /*of*/) {
    return std::to_array<std::string_view>({"out_of_memory", "cb_clash", "unknown_free"});
}
using base::name_of;

}  // namespace ttmem::segment

namespace ttmem::census {

using segment::FailureType;

// The cause of a failure.
enum class FailureVerdict : uint8_t {
    unknown,
    too_big,     // larger than a bank
    not_enough,  // larger than the free memory
    fragmented,  // no free block is large enough
    clash,
    unknown_free,
};
constexpr auto enum_names(FailureVerdict /*of*/) {
    return std::to_array<std::string_view>(
        {"unknown", "too big", "not enough", "fragmented", "clash", "unknown free"});
}

// The allocation that circular buffers clash with, as it was at that time.
struct Blocker {
    std::optional<Kind> kind;
    uint64_t address = 0;
    uint64_t requested = 0;
    uint64_t used = 0;
    uint64_t owner = 0;
    std::string name;

    bool operator==(const Blocker&) const = default;
};

// Values that a type of failure does not have are absent. Byte counts are per device.
struct FailureFigures {
    uint32_t pid = 0;
    FailureType type = FailureType::out_of_memory;
    FailureVerdict verdict = FailureVerdict::unknown;
    uint64_t time_ns = 0;  // since the epoch
    uint64_t age_ns = 0;
    std::vector<uint32_t> devices;
    std::string set;
    std::optional<Kind> kind;
    std::string name;  // the place in the program
    uint32_t thread = 0;
    std::optional<uint64_t> requested;
    std::optional<uint64_t> needed;        // bytes per bank, rounded up like the allocator does
    std::optional<uint64_t> free;          // bytes per bank
    std::optional<uint64_t> largest_free;  // the largest block per bank
    // What the largest free block lacks: needed minus largest_free; or the overlap of a clash.
    std::optional<uint64_t> missing;
    // What the verdict says is missing: of the bank, of the free memory or of the largest block; or the overlap of a clash.
    std::optional<uint64_t> short_by;
    std::optional<uint64_t> cb_end;         // clash: the end address of the circular buffers
    std::optional<uint64_t> lowest_buffer;  // clash: the address of the lowest L1 buffer
    std::optional<uint64_t> l1_end;         // clash beyond the end of L1: that address
    std::optional<Core> core;               // clash: one of the cores
    std::optional<uint64_t> program;
    std::optional<Blocker> blocker;
    std::optional<uint64_t> address;        // unknown free: the address passed to free
    std::optional<int32_t> logical_device;  // unknown free: the process's number of the device
    std::optional<FailureCard> card;        // what the bank held at that moment
    // Why there is no card; absent: there is one, it is not kept any more, or the failure has none.
    std::optional<NoCard> no_card;

    bool operator==(const FailureFigures&) const = default;
};

// Failures since the start of the process that match a query.
struct FailureCounts {
    uint32_t pid = 0;
    uint64_t out_of_memory = 0;
    uint64_t cb_clash = 0;
    uint64_t unknown_free = 0;
    // False if the query has a device and not all failures are kept: the counters have no device.
    bool is_known = true;

    uint64_t& of(FailureType type) {
        return type == FailureType::out_of_memory ? out_of_memory
               : type == FailureType::cb_clash    ? cb_clash
                                                  : unknown_free;
    }
    uint64_t sum() const { return out_of_memory + cb_clash + unknown_free; }
    bool operator==(const FailureCounts&) const = default;
};

struct FailureQuery {
    std::optional<std::string> device = {};
    std::optional<uint32_t> pid = {};
    std::optional<FailureType> type = {};
    bool brief = false;  // cards without their blocks
    uint64_t limit = 0;  // 0: all

    bool operator==(const FailureQuery&) const = default;
};

// The maximum number of blocks in all cards of the processes of a user in one answer. Further ones are left out.
constexpr uint64_t kMostCardBlocks = 20'000;

struct FailurePage {
    std::vector<FailureFigures> failures;  // the newest first
    uint64_t total = 0;                    // kept failures that match
    // One entry per selected process that ever had a failure that matches.
    std::vector<FailureCounts> counts;
};

// Returns an error if the device or the process does not exist.
base::Expected<FailurePage> list_failures(const Census& census, const FailureQuery& query);

}  // namespace ttmem::census
