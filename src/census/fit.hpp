// SPDX-License-Identifier: Apache-2.0
#pragma once

// Whether a request that nobody has made yet would fit, and where: the rules of the allocator (allocator/) on what the ledgers hold.
// Each mesh, submesh and device has an allocator of its own, so there is one answer per allocator.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "allocator/bank_snapshot.hpp"
#include "allocator/tensor.hpp"
#include "base/error.hpp"
#include "census/census.hpp"
#include "census/free_space.hpp"
#include "census/kind.hpp"
#include "census/ways_out.hpp"

namespace ttmem::census {

enum class FitDirection : uint8_t { bottom_up, top_down };
constexpr auto enum_names(FitDirection /*of*/) {
    return std::to_array<std::string_view>({"bottom_up", "top_down"});
}

struct FitQuery {
    std::string device = {};
    Kind kind = Kind::dram;
    // Bytes in pages of one size, or a tensor: its shape as "1,32,4096,4096".
    std::optional<uint64_t> size = {};
    std::optional<uint64_t> page_size = {};
    std::string shape = {};
    std::optional<allocator::DataType> dtype = {};
    std::optional<allocator::TensorLayout> layout = {};
    std::optional<uint32_t> cores = {};  // absent: interleaved over all banks
    std::optional<FitDirection> direction = {};
    std::optional<uint32_t> pid = {};
    std::string set = {};  // the label of a device set

    bool operator==(const FitQuery&) const = default;
};

// The page size of a request in bytes that names none: a tile of bfloat16.
constexpr uint64_t kStandardPageSize = 2048;

// The pages of a request. Returns an error that names what is wrong with it.
base::Expected<allocator::TensorPages> pages_of(const FitQuery& query);

enum class FitAnswer : uint8_t { fits, does_not_fit, undecided };
constexpr auto enum_names(FitAnswer /*of*/) {
    return std::to_array<std::string_view>({"fits", "does not fit", "undecided"});
}

// The maximum number of live allocations of one process that an answer keeps.
constexpr uint64_t kMostFitBlocks = 1'048'576;

// The answer of one allocator. Bytes are per bank unless they say otherwise.
struct AllocatorFit {
    uint32_t pid = 0;
    std::string comm;
    std::string set;
    std::vector<uint32_t> devices;  // that it keeps in lockstep
    FitAnswer answer = FitAnswer::undecided;
    std::string undecided;  // why it is undecided
    // Absent if it is undecided:
    std::optional<allocator::FitVerdict> verdict;
    Bank bank;
    bool is_top_down = false;
    uint64_t needed = 0;
    uint64_t used = 0;
    uint64_t free = 0;
    uint64_t largest_free = 0;
    uint64_t short_by = 0;
    std::optional<uint64_t> address;  // if it fits
    // If it fits in L1: the end of the process's circular buffers on the device, if that is above the address.
    std::optional<uint64_t> clash_with_cb;
    WaysOut ways;  // if it does not fit

    // The bytes that it takes on each device.
    uint64_t reserved() const { return allocator::multiply_or_most(needed, bank.banks); }
    bool operator==(const AllocatorFit&) const = default;
};

// One answer per allocator of the device that the query selects, by pid. `doubts` are the reasons for which the figures of
// processes are inexact. Returns an error if the request is wrong, or if the device, the process or the set does not exist.
base::Expected<std::vector<AllocatorFit>> fit_request(const Census& census, const FitQuery& query,
                                                      const std::vector<Inexactness>& doubts);

// Whether allocations may be missing from the ledgers for this reason, or be listed that are gone.
bool concerns_addresses(Reason reason);

}  // namespace ttmem::census
