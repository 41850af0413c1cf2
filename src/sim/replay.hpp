// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>

#include <tl/expected.hpp>

#include "sim/free_list.hpp"
#include "sim/geometry.hpp"

// Performs the calls of a recorded log on a simulated board and compares what comes back.
//
// A log has one JSON object a line: first `open` (board, regions, geometry), then `allocate` (with the address given or
// the error thrown), `free` by id, and `all freed`. Any line may carry the allocator's statistics after the call.
namespace ttmem::sim {

struct ReplayAllocation {
    std::int64_t id = 0;
    Pool pool = Pool::kDram;
    std::uint64_t size = 0;
    std::uint64_t page_size = 0;
    bool bottom_up = true;
    std::uint32_t shard_cores = 0;  // 0: interleaved; else height-sharded over the first cores of row 0
    std::uint32_t shard_pages_per_core = 0;
};

struct ReplayPlacement {
    std::uint64_t address = 0;
    std::uint64_t aligned_size_per_bank = 0;
};

// What the calls are performed on. A failed allocation gives the text of the error.
class ReplayTarget {
public:
    ReplayTarget() = default;
    ReplayTarget(const ReplayTarget&) = delete;
    ReplayTarget& operator=(const ReplayTarget&) = delete;
    virtual ~ReplayTarget() = default;

    [[nodiscard]] virtual tl::expected<ReplayPlacement, std::string> allocate(
        const ReplayAllocation& call) = 0;
    [[nodiscard]] virtual bool free(std::int64_t id) = 0;  // false: not live
    virtual void free_all() = 0;
    [[nodiscard]] virtual PoolStatistics statistics(Pool pool) const = 0;
    [[nodiscard]] virtual std::uint32_t banks(Pool pool) const = 0;
};

using OpenReplayTarget =
    std::function<std::unique_ptr<ReplayTarget>(const Board& board, const RegionSizes& regions)>;

// The allocator alone, without the runtime around it.
[[nodiscard]] std::unique_ptr<ReplayTarget> open_allocator_target(const Board& board,
                                                                  const RegionSizes& regions);

struct ReplayResult {
    std::uint64_t lines = 0;
    std::uint64_t allocations = 0;
    std::uint64_t failures = 0;
    std::uint64_t frees = 0;
    std::uint64_t statistics = 0;
    std::optional<std::string> difference;  // the first one; nothing after it was performed
};

// The error says what is wrong with the log itself.
[[nodiscard]] tl::expected<ReplayResult, std::string> replay(std::istream& log, const OpenReplayTarget& open);

}  // namespace ttmem::sim
