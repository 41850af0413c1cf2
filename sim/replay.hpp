// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>

#include <tl/expected.hpp>

#include "allocator/free_list.hpp"
#include "sim/geometry.hpp"

// Performs the calls of a recorded log on a simulated board and compares the results.
//
// A log has one JSON object per line: first `open` (board, regions, geometry), then `allocate` (with the address given or
// the error thrown), `free` by id, and `all freed`. Any line may carry the allocator's statistics after the call.
//
// The board is that of the log, known or not: geometry and member order come from `open` and its statistics.
namespace ttmem::sim {

struct ReplayAllocation {
    int64_t id = 0;
    PoolKind pool = PoolKind::dram;
    uint64_t size = 0;
    uint64_t page_size = 0;
    bool bottom_up = true;
    uint32_t shard_cores = 0;  // 0: interleaved; else height-sharded over the first cores of row 0
    uint32_t shard_pages_per_core = 0;
};

struct ReplayPlacement {
    uint64_t address = 0;
    uint64_t aligned_size_per_bank = 0;
};

// The allocator under replay. A failed allocation returns the text of the error.
class ReplayTarget {
public:
    ReplayTarget() = default;
    ReplayTarget(const ReplayTarget&) = delete;
    ReplayTarget& operator=(const ReplayTarget&) = delete;
    virtual ~ReplayTarget() = default;

    virtual tl::expected<ReplayPlacement, std::string> allocate(const ReplayAllocation& call) = 0;
    virtual bool free(int64_t id) = 0;  // false: not live
    virtual void free_all() = 0;
    virtual allocator::PoolStatistics statistics(PoolKind pool) const = 0;
    virtual uint32_t banks(PoolKind pool) const = 0;
};

using OpenReplayTarget =
    std::function<std::unique_ptr<ReplayTarget>(const Board& board, const RegionSizes& regions)>;

// The allocator without the runtime.
std::unique_ptr<ReplayTarget> open_allocator_target(const Board& board, const RegionSizes& regions);

struct ReplayResult {
    uint64_t lines = 0;
    uint64_t allocations = 0;
    uint64_t failures = 0;
    uint64_t frees = 0;
    uint64_t statistics = 0;
    std::optional<std::string> difference;  // the first one; the replay stopped there
};

// An error means that the log itself is malformed.
tl::expected<ReplayResult, std::string> replay(std::istream& log, const OpenReplayTarget& open);

}  // namespace ttmem::sim
